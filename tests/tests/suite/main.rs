//! The product against the truth. One binary, so that it links once.

mod budget;
mod common;
mod damage;
mod domain;
mod fields;
mod golden;
mod handmade;
mod identity;
mod oracle;
mod real;
mod rows;
mod verify;
mod watertight;

#[global_allocator]
static COUNTING: common::Counting = common::Counting;
