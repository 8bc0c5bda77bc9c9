// Threads of a group. Groups are numbered along x, then y.
const GROUP = 256u;
// No place, no triangle.
const NONE = 0xffffffffu;

struct Thread {
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
}

fn group_of(thread: Thread) -> u32 {
    return thread.group.y * thread.groups.x + thread.group.x;
}

fn number_of(thread: Thread) -> u32 {
    return group_of(thread) * GROUP + thread.lane;
}
