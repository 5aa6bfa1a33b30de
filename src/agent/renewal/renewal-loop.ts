import { answerOthers } from './sign-for-nodes.ts'
import type { RenewalScene } from './renew-local.ts'
import { type Look, rounds } from '../loop/run-loop.ts'

export interface KeepRenewedScene extends RenewalScene {
  /** Looks at this host: others may want it to be looked at, too, and then one waits for the other. */
  readonly renew: () => Promise<Look>
  readonly random: () => number
}

/** Keeps the certificates of this host and, where it has keys to sign with, those of nodes that ask. Until it shall end. */
export async function keepRenewed(scene: KeepRenewedScene): Promise<void> {
  const { host, rhythm, renew, random, say, signal } = scene
  const rest = { first: rhythm.first, usual: rhythm.asked, clock: host.clock, random, say, signal }
  await Promise.all([
    rounds({ look: renew, ...rest }),
    rounds({ look: async () => answerOthers(scene), ...rest }),
  ])
}
