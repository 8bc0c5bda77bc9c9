//! Faces with more than three corners, as triangles.

/// Cuts one face into triangles of indices into `ring`, wound as the face is.
///
/// A convex face becomes the fan from its first corner, as other tools draw it; its points on straight edges stay
/// corners, so that a neighbour's edge still meets them. A concave face is cut by ears, seen along the axis in which
/// it is largest.
pub fn triangulate(ring: &[[f64; 3]], mut emit: impl FnMut([usize; 3])) {
    let flat = flatten(ring);
    if ring.len() == 3 || is_convex(&flat) {
        return (2..ring.len()).for_each(|i| emit([0, i - 1, i]));
    }
    let mut corners: Vec<usize> = Vec::new();
    earcut::Earcut::new().earcut_slice(&flat, &[], &mut corners);
    for t in corners.chunks_exact(3) {
        let [a, b, c] = [t[0], t[1], t[2]];
        emit(if turn(flat[a], flat[b], flat[c]) < 0.0 { [a, c, b] } else { [a, b, c] });
    }
}

/// Drops the axis in which the face is thinnest; the result runs counter-clockwise.
fn flatten(ring: &[[f64; 3]]) -> Vec<[f64; 2]> {
    let o = ring[0]; // close to the face, so that large coordinates do not swamp the sum
    let mut normal = [0.0; 3];
    for (i, p) in ring.iter().enumerate() {
        let q = ring[(i + 1) % ring.len()];
        for (axis, n) in normal.iter_mut().enumerate() {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            *n += (p[u] - o[u]) * (q[v] - o[v]) - (p[v] - o[v]) * (q[u] - o[u]);
        }
    }
    let axis = (0..3).fold(2, |best, i| if normal[i].abs() > normal[best].abs() { i } else { best });
    let (mut u, mut v) = ((axis + 1) % 3, (axis + 2) % 3);
    if normal[axis] < 0.0 {
        (u, v) = (v, u);
    }
    ring.iter().map(|p| [p[u] - o[u], p[v] - o[v]]).collect()
}

/// Twice the signed area of the corner.
fn turn(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

fn is_convex(ring: &[[f64; 2]]) -> bool {
    let n = ring.len();
    (0..n).all(|i| turn(ring[i], ring[(i + 1) % n], ring[(i + 2) % n]) >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(ring: &[[f64; 3]]) -> Vec<[usize; 3]> {
        let mut out = Vec::new();
        triangulate(ring, |t| out.push(t));
        out
    }

    fn plan_area(ring: &[[f64; 3]], triangles: &[[usize; 3]]) -> (f64, f64) {
        let areas = triangles.iter().map(|t| {
            let [a, b, c] = t.map(|i| [ring[i][0], ring[i][1]]);
            turn(a, b, c) / 2.0
        });
        areas.fold((0.0, 0.0), |(sum, size), a| (sum + a, size + a.abs()))
    }

    #[test]
    fn convex_faces_are_fans_from_the_first_corner() {
        assert_eq!(cut(&[[0., 0., 0.], [1., 0., 0.], [1., 1., 5.], [0., 1., 0.]]), [[0, 1, 2], [0, 2, 3]]);
    }

    #[test]
    fn a_point_on_a_straight_edge_stays_a_corner() {
        let ring = [[0., 0., 0.], [1., 0., 0.], [2., 0., 0.], [2., 2., 0.], [0., 2., 0.]];
        assert_eq!(cut(&ring).len(), 3);
    }

    #[test]
    fn concave_faces_keep_their_area_and_their_winding() {
        let mut arrow = vec![[0., 0., 0.], [4., 0., 0.], [4., 4., 0.], [3., 1., 0.]];
        let (sum, size) = plan_area(&arrow, &cut(&arrow));
        assert_eq!((sum, size), (4.0, 4.0));
        arrow.reverse();
        let (sum, size) = plan_area(&arrow, &cut(&arrow));
        assert_eq!((sum, size), (-4.0, 4.0));
    }

    #[test]
    fn faces_without_area_do_no_harm() {
        let line: Vec<_> = (0..940).map(|i| [i as f64, 0., 0.]).collect();
        assert_eq!(cut(&line).len(), 938);
        assert_eq!(cut(&[[1., 1., 1.]; 5]).len(), 3);
    }
}
