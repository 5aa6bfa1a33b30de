import { compareVersions, numbersOf } from '../catalog/version.ts'

/** What becomes of the agent that a host has, when somebody with a release of their own comes. */
export type AgentDecision = 'install' | 'keep' | 'refuse'

/**
 * An agent is never older than whoever asks it, so it knows all that it can be asked. One that is newer stays, as a
 * colleague needs it: what it tells is read without what only newer ones know. That holds for neighbouring minors.
 */
export function decideAgent(own: string, found: string | undefined): AgentDecision {
  const [mine, theirs] = [numbersIn(own), numbersIn(found ?? '')]
  if (theirs === undefined || mine === undefined || compareVersions(theirs, mine) <= 0) return 'install'
  const [[ownMajor, ownMinor], [major, minor]] = [numbersOf(mine), numbersOf(theirs)]
  return major === ownMajor && minor - ownMinor <= 1 ? 'keep' : 'refuse'
}

/** Of two builds of one version, which differ only by their digests, neither is newer. */
function numbersIn(version: string): string | undefined {
  return /^\d+\.\d+\.\d+/.exec(version)?.[0]
}
