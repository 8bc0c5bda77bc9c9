//! Where the objects of an FBX scene stand.
//!
//! The library finds the properties; what they come to is computed here, in a stated order, so that every machine gets
//! the same numbers. Of the format's documented product
//!
//! ```text
//! translation · rotation offset · rotation pivot · pre-rotation · rotation · post-rotation⁻¹ · rotation pivot⁻¹
//!     · scaling offset · scaling pivot · scaling · scaling pivot⁻¹
//! ```
//!
//! the linear part is `turn · diag(scale)`, and the rest a translation. A mesh's own offset (its geometric
//! transform) stands behind it and is not inherited.

use std::collections::HashSet;

use ufbx::{ElementData, ElementType, InheritMode, LodDisplay, Node, RotationOrder, Scene};

use crate::settings::frame::cos_sin;

type Matrix = [[f64; 3]; 3];

const ONE: Matrix = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// `linear · p + moved`.
#[derive(Clone, Copy, Debug)]
pub struct Affine {
    pub linear: Matrix,
    pub moved: [f64; 3],
}

impl Affine {
    const ONE: Affine = Affine { linear: ONE, moved: [0.0; 3] };

    #[inline]
    pub fn apply(&self, p: [f64; 3]) -> [f64; 3] {
        let [x, y, z] = turn(&self.linear, p);
        let [dx, dy, dz] = self.moved;
        [x + dx, y + dy, z + dz]
    }

    fn then(&self, inner: &Affine) -> Affine {
        Affine { linear: product(&self.linear, &inner.linear), moved: self.apply(inner.moved) }
    }

    /// Whether it turns left into right.
    pub fn mirrors(&self) -> bool {
        let [[a, b, c], [d, e, f], [g, h, i]] = self.linear;
        a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) < 0.0
    }
}

#[inline]
fn turn(m: &Matrix, [x, y, z]: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|i| m[i][0] * x + m[i][1] * y + m[i][2] * z)
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j]))
}

fn transposed(m: &Matrix) -> Matrix {
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| m[j][i]))
}

/// Columns times factors.
fn scaled(m: &Matrix, by: [f64; 3]) -> Matrix {
    m.map(|row| [0, 1, 2].map(|j| row[j] * by[j]))
}

fn add(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|i| a[i] + b[i])
}

fn times(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|i| a[i] * b[i])
}

fn minus(a: [f64; 3]) -> [f64; 3] {
    a.map(|v| -v)
}

/// The turn by angles in degrees about x, y and z, one after the other in an order.
fn rotation(degrees: [f64; 3], order: RotationOrder) -> Matrix {
    let about = |axis: usize| {
        let [cos, sin] = cos_sin(degrees[axis]);
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let mut m = ONE;
        (m[u][u], m[u][v], m[v][u], m[v][v]) = (cos, -sin, sin, cos);
        m
    };
    let [first, second, third] = match order {
        RotationOrder::Xyz | RotationOrder::Spheric => [0, 1, 2],
        RotationOrder::Xzy => [0, 2, 1],
        RotationOrder::Yzx => [1, 2, 0],
        RotationOrder::Yxz => [1, 0, 2],
        RotationOrder::Zxy => [2, 0, 1],
        RotationOrder::Zyx => [2, 1, 0],
    };
    product(&about(third), &product(&about(second), &about(first)))
}

/// An object's own transform, in parts.
struct Own {
    turn: Matrix,
    scale: [f64; 3],
    moved: [f64; 3],
    /// From its mesh to it.
    geometry: Affine,
}

impl Own {
    fn of(node: &Node) -> Own {
        let vector = |name: &str, default: f64| {
            let prop = node.element.props.find_prop(name);
            prop.map_or([default; 3], |p| [p.value_vec4.x, p.value_vec4.y, p.value_vec4.z])
        };
        let switch =
            |name: &str, default: bool| node.element.props.find_prop(name).map_or(default, |p| p.value_vec4.x != 0.0);
        let degrees = vector("Lcl Rotation", 0.0);
        let turn = if switch("RotationActive", true) && !switch("RotationSpaceForLimitOnly", false) {
            let [before, after] =
                ["PreRotation", "PostRotation"].map(|name| rotation(vector(name, 0.0), RotationOrder::Xyz));
            product(&before, &product(&rotation(degrees, node.rotation_order), &transposed(&after)))
        } else {
            rotation(degrees, RotationOrder::Xyz)
        };
        let scale = vector("Lcl Scaling", 1.0);
        let [about, pivot] = ["RotationPivot", "ScalingPivot"].map(|name| vector(name, 0.0));
        let moved = add(add(pivot, minus(times(scale, pivot))), vector("ScalingOffset", 0.0));
        let moved = self::turn(&turn, add(moved, minus(about)));
        let moved = add(add(moved, about), add(vector("RotationOffset", 0.0), vector("Lcl Translation", 0.0)));
        let linear =
            scaled(&rotation(vector("GeometricRotation", 0.0), RotationOrder::Xyz), vector("GeometricScaling", 1.0));
        Own { turn, scale, moved, geometry: Affine { linear, moved: vector("GeometricTranslation", 0.0) } }
    }
}

/// An object where it stands.
pub struct Placed {
    /// From its mesh to the scene, in the file's axes and unit.
    pub geometry: Affine,
    /// It, or what it stands in, is switched off.
    pub hidden: bool,
    /// It, or what it stands in, is drawn instead of something else when seen from afar.
    pub coarse: bool,
    /// It, or what it stands in, moves in some animation.
    pub moving: bool,
    world: Affine,
    /// The same without its own scale.
    unscaled: Affine,
    /// Its own scale and what it took over.
    scale: [f64; 3],
    /// The scale that children take over which ignore its own.
    taken: [f64; 3],
}

/// All objects, by their number (`typed_id`): parents stand before children.
pub fn place(scene: &Scene) -> Vec<Placed> {
    let (moving, coarse) = (moving(scene), coarse(scene));
    let layers = scene.display_layers.iter().filter(|layer| !layer.visible);
    let switched_off: HashSet<u32> = layers.flat_map(|layer| &layer.nodes).map(|n| n.element.element_id).collect();
    let mut all: Vec<Placed> = Vec::with_capacity(scene.nodes.len());
    for node in &scene.nodes {
        let parent = node.parent.as_ref().map(|p| all.get(p.element.typed_id as usize));
        let placed = match parent {
            Some(Some(above)) if !node.is_root => {
                let own = Own::of(node);
                let (mut scale, mut moved, mut taken) = (own.scale, own.moved, [1.0; 3]);
                let inherits = node.inherit_mode != InheritMode::Normal;
                if inherits {
                    taken = if node.inherit_mode == InheritMode::IgnoreParentScale { above.taken } else { above.scale };
                    (scale, moved) = (times(scale, taken), times(moved, above.scale));
                }
                let frame = if inherits { &above.unscaled } else { &above.world };
                let world = frame.then(&Affine { linear: scaled(&own.turn, scale), moved });
                let shown = |name| node.element.props.find_prop(name).is_none_or(|p| p.value_vec4.x != 0.0);
                let off = !shown("Visibility") || !shown("Show") || switched_off.contains(&node.element.element_id);
                Placed {
                    geometry: world.then(&own.geometry),
                    hidden: off || (above.hidden && shown("Visibility Inheritance")),
                    coarse: above.coarse || coarse.contains(&node.element.element_id),
                    moving: above.moving || moving.contains(&node.element.element_id),
                    world,
                    unscaled: frame.then(&Affine { linear: own.turn, moved }),
                    scale,
                    taken,
                }
            }
            _ => Placed {
                geometry: Affine::ONE,
                hidden: false,
                coarse: false,
                moving: false,
                world: Affine::ONE,
                unscaled: Affine::ONE,
                scale: [1.0; 3],
                taken: [1.0; 3],
            },
        };
        all.push(placed);
    }
    all
}

/// Numbers of the children of groups of levels of detail that are none seen from near.
fn coarse(scene: &Scene) -> HashSet<u32> {
    let mut all = HashSet::new();
    for group in &scene.nodes {
        let attrib = group.attrib.as_ref().filter(|a| a.type_ == ElementType::LodGroup);
        let Some(ElementData::LodGroup(levels)) = attrib.map(|a| a.as_data()) else { continue };
        for (level, child) in group.children.iter().enumerate() {
            let coarse = match levels.lod_levels.get(level).map_or(LodDisplay::UseLod, |l| l.display) {
                LodDisplay::UseLod => level > 0,
                LodDisplay::Show => false,
                LodDisplay::Hide => true,
            };
            if coarse {
                all.insert(child.element.element_id);
            }
        }
    }
    all
}

/// Numbers of the objects whose transform changes in some animation.
fn moving(scene: &Scene) -> HashSet<u32> {
    let props = scene.anim_layers.iter().flat_map(|layer| layer.anim_props.iter());
    let moves = props.filter(|p| {
        p.prop_name.starts_with("Lcl ") && p.anim_value.curves.iter().flatten().any(|c| c.min_value != c.max_value)
    });
    moves.map(|p| p.element.element_id).collect()
}
