//! The product against the truth. One binary, so that it links once.

mod bounds;
mod budget;
mod check_findings;
mod clean;
mod common;
mod contact;
mod cost;
mod damage;
mod domain;
mod facing;
mod fields;
mod golden;
mod handmade;
mod identity;
mod meeting;
mod oracle;
mod precedence;
mod rays;
mod real;
mod rooms;
mod rows;
mod split;
mod stitch;
mod strips;
mod verify;
mod walls;
mod watertight;
mod weld;

#[global_allocator]
static COUNTING: common::Counting = common::Counting;
