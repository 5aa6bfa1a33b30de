/** How many members of so many must be well for any of them to take a write. */
export function quorum(members: number): number {
  return Math.floor(members / 2) + 1
}

/** With one or two members, all are needed: none can restart without a pause. */
export function bearsLoss(members: number): boolean {
  return members - 1 >= quorum(members)
}
