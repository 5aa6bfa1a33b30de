import type { Identity } from '../../identity/identity.ts'
import { advanced, type KeyName, phaseOf } from '../../identity/replace-key.ts'
import type { Phase } from '../../identity/replacement.ts'
import { type ExitCode, exitCodes } from '../command.ts'

/** How keys are replaced: each is a small part of the world that a test can stand in for. */
export interface Rotation {
  readonly keys: readonly KeyName[]
  /** As it is on disk. */
  readonly load: () => Promise<Identity>
  readonly save: (identity: Identity) => Promise<void>
  /** Brings all hosts to an identity. `keep` is called once that was agreed to, and before any host is touched. */
  readonly bring: (identity: Identity, keep: () => Promise<void>) => Promise<ExitCode>
  /** What is to be done in the cluster itself once all hosts have come to a phase, so that the next one is safe. */
  readonly settle: (key: KeyName, phase: Phase) => Promise<ExitCode>
  /** Says which phase is next. */
  readonly say: (phases: ReadonlyMap<KeyName, Phase>) => void
  readonly dryRun: boolean
  readonly now: () => Date
}

export interface Rotated {
  readonly code: ExitCode
  /** Those that it was about: what was begun before is ended, and then nothing else is begun. */
  readonly keys: readonly KeyName[]
}

/**
 * Takes keys through all phases of their replacement, one rollout each. The identity says how far it has come, so that
 * the same call goes on after a cut; what was begun is ended before anything else begins.
 */
export async function rotate(rotation: Rotation): Promise<Rotated> {
  const { keys, load, save, bring, settle, say, dryRun, now } = rotation
  let identity = await load()
  const begun = keys.filter((key) => phaseOf(identity, key) !== undefined)
  const mine = begun.length > 0 ? begun : keys
  const ended = (code: ExitCode): Rotated => ({ code, keys: mine })
  if (begun.length === 0) identity = await allAdvanced(identity, keys, now())
  for (;;) {
    const phases = phasesOf(identity, mine)
    if (phases.size === 0) {
      await save(identity)
      return ended(exitCodes.ok)
    }
    say(phases)
    const wanted = identity
    const code = await bring(wanted, async () => save(await withHostKeys(wanted, load)))
    if (code !== exitCodes.ok) return ended(code)
    if (dryRun) return ended(exitCodes.changesPending)
    for (const [key, phase] of phases) {
      const settled = await settle(key, phase)
      if (settled !== exitCodes.ok) return ended(settled)
    }
    // Others may have learned something meanwhile.
    identity = await allAdvanced(await load(), [...phases.keys()], now())
  }
}

/** Hosts may have been met for the first time since. */
async function withHostKeys(identity: Identity, load: Rotation['load']): Promise<Identity> {
  return { ...identity, hostKeys: (await load()).hostKeys }
}

function phasesOf(identity: Identity, keys: readonly KeyName[]): ReadonlyMap<KeyName, Phase> {
  return new Map(
    keys.flatMap((key) => {
      const phase = phaseOf(identity, key)
      return phase === undefined ? [] : [[key, phase] as const]
    }),
  )
}

async function allAdvanced(identity: Identity, keys: readonly KeyName[], now: Date): Promise<Identity> {
  let next = identity
  for (const key of keys) next = await advanced(next, key, now)
  return next
}
