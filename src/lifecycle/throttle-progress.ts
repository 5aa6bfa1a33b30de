/**
 * Wraps a progress callback. It is called, with sizes in megabytes, only when the rounded number of megabytes
 * changes.
 */
export function throttleProgress(
  report: (done: number, total: number) => void,
): (sent: number, size: number) => void {
  let reported = -1
  return (sent, size) => {
    const done = Math.round(sent / 1e6)
    if (done === reported) return
    reported = done
    report(done, Math.round(size / 1e6))
  }
}
