/** Number of healthy members that etcd needs to accept writes. */
export function minHealthyMembers(members: number): number {
  return Math.floor(members / 2) + 1
}

/** True if etcd keeps its quorum while one member is down. With one or two members it does not. */
export function toleratesLoss(members: number): boolean {
  return members - 1 >= minHealthyMembers(members)
}
