// SPDX-License-Identifier: GPL-2.0-only
// What is expected is what rustc-demangle and c++filt write, the latter without hashes of crates and types of constants.
#include "elf/demangle.h"

#include <string>

#include <gtest/gtest.h>

namespace argtrace::elf {
namespace {

TEST(Demangle, LeavesOtherNamesAlone) {
    for (const char *name : {"", "main", "_start", "memcpy.cold", "main.(*T).Method", "runtime.mcall", "_Z", "_R", "_Zebra", "_Rust", "__ZN1aE", "_RNv", "_ZN"})
        EXPECT_EQ(demangle(name), name);
}

TEST(Demangle, WritesCxxNames) {
    EXPECT_EQ(demangle("_Z3fooi"), "foo(int)");
    EXPECT_EQ(demangle("_ZN4node9inspector5Agent5StartEv"), "node::inspector::Agent::Start()");
    EXPECT_EQ(demangle("_ZZN1a1bEvENKUlvE_clEv"), "a::b()::{lambda()#1}::operator()() const");
}

TEST(Demangle, KeepsSuffixesOfClones) {
    EXPECT_EQ(demangle("_Z3fooi.cold"), "foo(int).cold");
    EXPECT_EQ(demangle("_Z3fooi.constprop.0.isra.1"), "foo(int).constprop.0.isra.1");
    EXPECT_EQ(demangle("_Z3fooi.part.3.llvm.123"), "foo(int).part.3.llvm.123");
    EXPECT_EQ(demangle("_ZN4core3fmt5write17h0123456789abcdefE.llvm.99"), "core::fmt::write.llvm.99");
    EXPECT_EQ(demangle("_RNvC1a4main.cold"), "a::main.cold");
}

TEST(Demangle, WritesLegacyRustNames) {
    EXPECT_EQ(demangle("_ZN4core3fmt5write17h0123456789abcdefE"), "core::fmt::write");
    EXPECT_EQ(demangle("_ZN28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE"), "{{closure}}");
    EXPECT_EQ(demangle("_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE"),
              "<Test + 'static as foo::Bar<Test>>::bar");
    EXPECT_EQ(demangle("_ZN3foo17h0123456789abcdefg"), "_ZN3foo17h0123456789abcdefg");
}

TEST(Demangle, WritesRustNames) {
    EXPECT_EQ(demangle("_RNvC6_123foo3bar"), "123foo::bar");
    EXPECT_EQ(demangle("_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y"), "utf8_idents::საჭმელად_გემრიელი_სადილი");
    EXPECT_EQ(demangle("_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_"), "cc::spawn::{closure#0}::{closure#0}");
    EXPECT_EQ(demangle("_RNCINkXs25_NgCsbmNqQUJIY6D_4core5sliceINyB9_4IterhENuNgNoBb_4iter8iterator8Iterator9rpositionNCNgNpB9_6memchr7memrchrs_0E0Bb_"),
              "<core::slice::Iter<u8> as core::iter::iterator::Iterator>::rposition::<core::slice::memchr::memrchr::{closure#1}>::{closure#0}");
    EXPECT_EQ(demangle("_RINbNbCskIICzLVDPPb_5alloc5alloc8box_freeDINbNiB4_5boxed5FnBoxuEp6OutputuEL_ECs1iopQbuBiw2_3std"),
              "alloc::alloc::box_free::<dyn alloc::boxed::FnBox<(), Output = ()>>");
    EXPECT_EQ(demangle("_RINvCs2OpA4fNwd7R_1r3genThReAsj4_EShEB2_"), "r::gen::<(u8, &str, [i16; 4]), [u8]>");
    EXPECT_EQ(demangle("_RNvMs_Cs2OpA4fNwd7R_1rINtB4_1BKb0_Kc2202_Kl5_E3getB4_"), "<r::B<false, '\xe2\x88\x82', 5>>::get");
    EXPECT_EQ(demangle("_RNvMC0INtC8arrayvec8ArrayVechKj7b_E3new"), "<arrayvec::ArrayVec<u8, 123>>::new");
    EXPECT_EQ(demangle("_RMC0INtC8unsigned8UnsignedKhb_E"), "<unsigned::Unsigned<11>>");
    EXPECT_EQ(demangle("_RMC0INtC6signed6SignedKs98_E"), "<signed::Signed<152>>");
    EXPECT_EQ(demangle("_RMC0INtC6signed6SignedKanb_E"), "<signed::Signed<-11>>");
    EXPECT_EQ(demangle("_RMC0FG0_KCRL0_hRL1_tEu"), "<for<'a, 'b> extern \"C\" fn(&'b u8, &'a u16)>");
}

TEST(Demangle, IsNotLedAstray) {
    // References to themselves, to what lies ahead, and to ever more of them.
    for (const char *name : {"_RNvB_1a", "_RNvB3_1a", "_RB_", "_RMC0B_", "_RNvC1a99999999999999999999b", "_RMC0TTTTTTTTTT", "_RNvC1au3___", "_RNvC1aszzzzzzzzzzzzzzzzzzzzz_1b"})
        EXPECT_EQ(demangle(name), name);
    std::string deep = "_RMC0";
    for (int i = 0; i < 3000; i++)
        deep += 'S';
    EXPECT_EQ(demangle(deep + "h"), deep + "h");
    // Each reference would double the length.
    std::string doubled = "_RMC0TTuuE";
    const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    for (int i = 0; i < 60; i++)
        doubled += std::string("TB") + digits[3] + "_B" + digits[3] + "_E";
    EXPECT_LE(demangle(doubled + "E").size(), 20000u);
    std::string cxx = "_Z1f1AIiiE";
    for (int i = 0; i < 40; i++) {
        const std::string sequence = i < 35 ? std::string(1, i < 10 ? static_cast<char>('0' + i) : static_cast<char>('A' + i - 10)) : "Z";
        cxx += "S_IS" + sequence + "_S" + sequence + "_E";
    }
    EXPECT_EQ(demangle(cxx), cxx);
}

} // namespace
} // namespace argtrace::elf
