# SPDX-License-Identifier: GPL-2.0-only
#
# What a stack is shown with: all of its frames, with their addresses, without arguments.
set pagination off
set width 0
set confirm off
set print frame-arguments none
set print entry-values no
set print address on
set print symbol-filename off
set print max-symbolic-offset unlimited
set backtrace limit unlimited
set backtrace past-main on
set backtrace past-entry off
set print demangle on
set print asm-demangle on
