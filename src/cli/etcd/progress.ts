import { printable } from '../../kit/printable.ts'
import type { Progress } from '../../snapshot/store.ts'
import type { Context } from '../command.ts'
import { fit, span } from '../render/line.ts'
import { movingLines } from '../render/live-lines.ts'

export interface ByteProgress extends Disposable {
  /** Shows how far something is. */
  of(what: string): Progress
  /** A line for a person, between what is shown. */
  say(line: string): void
}

type World = Pick<Context, 'stderr' | 'screen' | 'paintProgress' | 'every'>

/** Between two drawings, in milliseconds. */
const frameTime = 200
/** Less is done before anybody has read a line about it, in bytes. */
const worthTelling = 20e6

/** A line that moves where there is a terminal to move on, and a line for each tenth elsewhere. */
export function openByteProgress(world: World): ByteProgress {
  return world.screen === undefined ? lines(world) : frame({ ...world, screen: world.screen })
}

function lines({ stderr }: World): ByteProgress {
  return {
    say: (line) => void stderr.write(`${printable(line)}\n`),
    of(what) {
      let told = 0
      return (done, total) => {
        const tenths = Math.floor((done / total) * 10)
        if (total < worthTelling || tenths <= told) return
        told = tenths
        stderr.write(`${words(what, done, total)}\n`)
      }
    },
    [Symbol.dispose]: () => undefined,
  }
}

function frame({
  stderr,
  screen,
  paintProgress,
  every,
}: World & { readonly screen: NonNullable<Context['screen']> }): ByteProgress {
  let now: string | undefined
  const { draw, write } = movingLines({ stderr, screen, paintProgress })
  const stop = every(frameTime, () => {
    if (now !== undefined) draw([fit([span(now)], screen.size().columns)])
  })
  return {
    of: (what) => (done, total) => {
      now = words(what, done, total)
    },
    say(line) {
      now = undefined
      write(`${printable(line)}\n`)
    },
    [Symbol.dispose]() {
      stop()
      write('')
    },
  }
}

function words(what: string, done: number, total: number): string {
  return `${what}: ${megabytes(done)} of ${megabytes(total)} MB`
}

/** To a tenth, as most databases are small. */
export function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1)
}
