import { answerOthers } from './answer-others.ts'
import { renewOwn, type RenewalScene } from './renew-own.ts'
import { rounds } from '../rounds/rounds.ts'

/** Keeps the certificates of this host and, where it has keys to sign with, those of nodes that ask. Until it shall end. */
export async function keepRenewed(scene: RenewalScene & { readonly random: () => number }): Promise<void> {
  const { host, rhythm, random, say, signal } = scene
  const rest = { first: rhythm.first, usual: rhythm.asked, clock: host.clock, random, say, signal }
  await Promise.all([
    rounds({ look: async () => renewOwn(scene), ...rest }),
    rounds({ look: async () => answerOthers(scene), ...rest }),
  ])
}
