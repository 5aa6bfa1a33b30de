import { HyperkubeError } from '../kit/errors.ts'
import { firstFew } from '../kit/truncate-list.ts'
import { nearest } from '../kit/suggest.ts'
import { imageNeededBy } from './images.ts'
import type { Suite } from './suite.ts'

export interface Selection {
  /** Names of the tests to run. */
  readonly chosen: readonly string[]
  readonly leftOut: readonly LeftOut[]
}

/** A test that was asked for and is not run, and why. */
export interface LeftOut {
  readonly name: string
  readonly why: string
}

export interface Choice {
  /** Exact names; without them all that the suite's own flags have chosen. */
  readonly only?: readonly string[]
  /** Images that cannot be had. */
  readonly withoutImages: readonly string[]
}

export function select({ tests }: Suite, { only, withoutImages }: Choice): Selection {
  const names = tests.filter(({ chosen }) => chosen).map(({ name }) => name)
  const known = new Set(tests.map(({ name }) => name))
  const wanted = new Set(only)
  refuseUnknown(
    [...wanted].filter((name) => !known.has(name)),
    [...known],
  )
  const asked = only === undefined ? names : names.filter((name) => wanted.has(name))
  const leftOut = asked.flatMap((name): LeftOut[] => {
    const image = imageNeededBy(name, withoutImages)
    return image === undefined ? [] : [{ name, why: `it needs the image ${image}` }]
  })
  const left = new Set(leftOut.map(({ name }) => name))
  return { chosen: asked.filter((name) => !left.has(name)), leftOut }
}

/** A name that is not right would be left out in silence. */
function refuseUnknown(unknown: readonly string[], known: readonly string[]): void {
  const [first] = unknown
  if (first === undefined) return
  const meant = nearest(first, known)
  throw new HyperkubeError('CONFORMANCE_UNKNOWN_TEST', `the suite has no test ${firstFew(unknown, 3)}`, {
    hint: meant === undefined ? 'hyperkube conformance --list says their names' : `did you mean ${meant}?`,
  })
}

/** The tests that are named in a file: one in a line, as they are; what begins with # is a remark. */
export function namesIn(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
}
