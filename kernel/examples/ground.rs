//! The ground under three hubs, from an image that is part of the program.

use hardpan::{OpenError, Terrain, include_image};

static BRIDGE: &[u8] = include_image!("bridge.hpan"); // aligned as the kernel needs it

fn main() -> Result<(), OpenError> {
    let terrain = Terrain::open(BRIDGE)?; // checks the head, in constant time; copies nothing
    for hub in [[0.0, 0.0, 2.0], [0.0, 0.0, 5.0], [80.0, 0.0, 0.0]] {
        let answer = terrain.closest(hub); // metres: the nearest ground above or below
        let ([dx, dy], [mu, ..]) = (terrain.slope_f64(&answer.hit), terrain.surface(&answer));
        match answer.found() {
            true => println!("{hub:?}: z {}, slope {dx} {dy}, mu {mu}", terrain.z_f64(&answer.hit)),
            false => println!("{hub:?}: {:?}", answer.status),
        }
    }
    Ok(())
}
