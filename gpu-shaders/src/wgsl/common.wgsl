// Threads of a group. Groups are numbered along x, then y.
const GROUP = 256u;
// No place, no triangle.
const NONE = 0xffffffffu;

fn group_of(group: vec3<u32>, groups: vec3<u32>) -> u32 {
    return group.y * groups.x + group.x;
}
