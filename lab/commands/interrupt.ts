import { HyperkubeError } from '../../src/kit/errors.ts'

/** Aborted by the first Ctrl-C, so that what was begun is ended in order; a second one ends at once. */
export function interrupted(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      process.stderr.write('\ncleaning up; once more to leave at once\n')
      controller.abort(
        new HyperkubeError('INTERRUPTED', 'stopped in the middle', { hint: 'npm run lab -- down' }),
      )
    })
  }
  return controller.signal
}
