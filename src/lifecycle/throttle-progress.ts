/** Whoever listens need not hear of each piece. */
export function byMegabyte(
  tell: (done: number, total: number) => void,
): (sent: number, size: number) => void {
  let told = -1
  return (sent, size) => {
    const done = Math.round(sent / 1e6)
    if (done === told) return
    told = done
    tell(done, Math.round(size / 1e6))
  }
}
