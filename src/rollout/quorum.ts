/** Number of healthy members that etcd needs to accept writes. */
export function minHealthyMembers(members: number): number {
  return Math.floor(members / 2) + 1
}

/** With one or two members all are needed, so none can restart without downtime. */
export function toleratesLoss(members: number): boolean {
  return members - 1 >= minHealthyMembers(members)
}
