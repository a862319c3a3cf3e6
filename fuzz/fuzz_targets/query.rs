//! `dunlin_fuzz::query` as a program: under libFuzzer when built by cargo-fuzz, else on the files it is given.
#![cfg_attr(fuzzing, no_main)]

dunlin_fuzz::target!(query);
