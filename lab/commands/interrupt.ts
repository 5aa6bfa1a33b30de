import { HyperkubeError } from '../../src/kit/errors.ts'

/**
 * Creates a signal that the first Ctrl-C aborts, so the command can clean up. A second Ctrl-C ends the
 * process.
 */
export function abortOnInterrupt(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      process.stderr.write('\ncleaning up; press Ctrl-C again to exit at once\n')
      controller.abort(
        new HyperkubeError('INTERRUPTED', 'interrupted before the end', { hint: 'npm run lab -- down' }),
      )
    })
  }
  return controller.signal
}
