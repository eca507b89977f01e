// SPDX-License-Identifier: GPL-2.0-only
// What RustFunctions traces: calls whose arguments the test knows. Nothing of them is known to the compiler.
use std::mem::forget;
use std::ptr::read_volatile;

fn opaque<T>(value: T) -> T {
    let read = unsafe { read_volatile(&value) };
    forget(value);
    read
}

#[derive(Clone, Copy)]
#[repr(u8)]
pub enum Color {
    Red = 1,
    Green = 5,
    Blue = 9,
}

pub enum Shape {
    Empty,
    Circle { radius: f64 },
    Rectangle(u32, u32),
    Named(u64),
}

pub struct Server {
    name: String,
    port: u16,
    peers: Vec<u32>,
}

impl Server {
    #[inline(never)]
    pub fn handle(&self, path: &str, size: usize) -> usize {
        opaque(self.port as usize + path.len() + path.as_ptr() as usize % 2 + size + self.peers.len() + self.name.len())
    }
}

pub trait Speaker {
    fn speak(&self, times: u32) -> u32;
}

impl Speaker for Server {
    #[inline(never)]
    fn speak(&self, times: u32) -> u32 {
        opaque(times * 2 + self.port as u32)
    }
}

#[inline(never)]
pub fn with_str(text: &str, number: u32) -> usize {
    opaque(text.bytes().map(usize::from).sum::<usize>() + number as usize)
}

#[inline(never)]
pub fn with_string(text: String) -> usize {
    opaque(text.len())
}

#[inline(never)]
pub fn with_string_reference(text: &String) -> usize {
    opaque(text.len())
}

#[inline(never)]
pub fn with_slice(numbers: &[i32]) -> i32 {
    opaque(numbers.iter().sum())
}

#[inline(never)]
pub fn with_vector(numbers: Vec<u32>) -> u32 {
    opaque(numbers.iter().sum())
}

#[inline(never)]
pub fn with_color(color: Color) -> Color {
    opaque(color)
}

#[inline(never)]
pub fn with_shape(shape: &Shape) -> f64 {
    opaque(match shape {
        Shape::Empty => 0.0,
        Shape::Circle { radius } => *radius,
        Shape::Rectangle(width, height) => (width * height) as f64,
        Shape::Named(number) => *number as f64,
    })
}

#[inline(never)]
pub fn with_result(result: Result<u32, String>) -> u32 {
    opaque(result.unwrap_or(3))
}

#[inline(never)]
pub fn with_scalars(a: i8, b: u16, c: i64, d: bool, e: f32, f: f64, g: u32) -> f64 {
    opaque(a as f64 + b as f64 + c as f64 + (d as u8) as f64 + e as f64 + f + g as f64)
}

#[inline(never)]
pub fn with_tuple(pair: (u32, u64), behind: u32) -> u64 {
    opaque(pair.0 as u64 + pair.1 + behind as u64)
}

#[inline(never)]
pub fn with_numbers(pair: (f64, u64), behind: f64) -> f64 {
    opaque(pair.0 + pair.1 as f64 + behind)
}

#[inline(never)]
pub fn with_small_pair(pair: (i32, i32), behind: u32) -> i32 {
    opaque(pair.0 + pair.1 + behind as i32)
}

#[inline(never)]
pub fn generic<T>(value: &T, number: u32) -> usize {
    opaque(std::mem::size_of_val(value) + number as usize)
}

#[inline(never)]
pub fn returns_str(length: usize) -> &'static str {
    opaque(&"hello world"[..length])
}

/// Nobody looks at what it returns, so that the compiler may leave that out.
#[inline(never)]
pub fn ignored(number: u64, list: &mut Vec<u64>) -> u64 {
    list.push(opaque(number));
    number * 3 + 1
}

fn main() {
    let server = Server { name: opaque("web".to_string()), port: opaque(8080), peers: opaque(vec![1, 2, 3]) };
    let mut total = 0usize;
    let mut list = Vec::new();
    for round in 0..opaque(2u32) {
        let number = opaque(round);
        total += with_str(opaque(if number == 0 { "first" } else { "" }), number);
        total += with_string(format!("owned {}", number));
        total += with_string_reference(&format!("borrowed {}", number));
        total += with_slice(opaque(&[1, -2, 3 + number as i32][..])) as usize;
        total += with_vector(opaque(vec![4, 5, 6 + number])) as usize;
        total += with_color(opaque(if number == 0 { Color::Green } else { Color::Red })) as usize;
        total += with_shape(&opaque(if number == 0 { Shape::Circle { radius: 1.5 } } else { Shape::Rectangle(3, 4) })) as usize;
        total += with_result(opaque(if number == 0 { Ok(5) } else { Err("bad".to_string()) })) as usize;
        total += with_scalars(opaque(-1), opaque(2), opaque(-3), opaque(true), opaque(1.5), opaque(-2.25), number) as i64 as usize % 100;
        total += with_tuple(opaque((number, 20)), opaque(30)) as usize;
        total += with_numbers(opaque((0.5, 20)), opaque(2.5)) as usize;
        total += with_small_pair(opaque((7, -8)), opaque(9)) as usize;
        total += generic(opaque(&"text"), number) + generic(opaque(&5u64), number);
        total += server.handle(opaque("/index.html"), opaque(100)) + server.speak(opaque(3)) as usize;
        total += returns_str(opaque(5)).len();
        ignored(opaque(number as u64 + 7), &mut list);
        total += opaque(list.len());
    }
    total += with_shape(&opaque(Shape::Empty)) as usize + with_shape(&opaque(Shape::Named(6))) as usize + with_color(opaque(Color::Blue)) as usize;
    println!("{}", total);
}
