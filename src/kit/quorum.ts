/** Number of members that form a majority, for example of etcd voters or of control planes. */
export function quorumSize(members: number): number {
  return Math.floor(members / 2) + 1
}

/** True if a majority remains while one member is down. False for one or two members. */
export function toleratesLoss(members: number): boolean {
  return members - 1 >= quorumSize(members)
}
