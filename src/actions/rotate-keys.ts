import type { Identity, ReplacementPhase } from '../identity/identity.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { advanceReplacement, findReplacementPhase, type KeyName } from '../identity/replace-key.ts'
import type { ActionStatus } from './phases/action-run.ts'

/** Inputs and effects of a key rotation. Tests replace the effects. */
export interface KeyRotationDeps {
  readonly keys: readonly KeyName[]
  /** Reads the identity from disk. */
  readonly load: () => Promise<Identity>
  readonly save: (identity: Identity) => Promise<void>
  /**
   * Makes all hosts use an identity. `persist` is called after confirmation and before any host is changed.
   */
  readonly applyIdentity: (identity: Identity, persist: () => Promise<void>) => Promise<ActionStatus>
  /**
   * Called after all hosts have reached a phase. Does the work in the cluster that makes the next phase safe.
   */
  readonly finishPhase: (key: KeyName, phase: ReplacementPhase) => Promise<ActionStatus>
  /** Reports the phase that each key enters next. */
  readonly reportPhases: (phases: ReadonlyMap<KeyName, ReplacementPhase>) => void
  readonly dryRun: boolean
  readonly now: () => Date
}

export interface KeyRotationResult {
  readonly status: ActionStatus
  /**
   * Keys that this call rotated. If some of the requested keys were already being rotated, the call finishes
   * only those.
   */
  readonly keys: readonly KeyName[]
}

/**
 * Takes keys through all phases of their replacement, with one rollout per phase. The identity records the
 * phase, so the same call resumes after an interrupt. If some of the keys are already being rotated, the call
 * finishes only those.
 */
export async function rotateKeys(deps: KeyRotationDeps): Promise<KeyRotationResult> {
  const { keys, load, save, applyIdentity, finishPhase, reportPhases, dryRun, now } = deps
  let identity = await load()
  if (keys.includes('encryption')) requireOwnEncryption(identity)
  const started = keys.filter((key) => findReplacementPhase(identity, key) !== undefined)
  const activeKeys = started.length > 0 ? started : keys
  const buildResult = (status: ActionStatus): KeyRotationResult => ({ status, keys: activeKeys })
  if (started.length === 0) identity = await advanceAll(identity, keys, now())
  for (;;) {
    const phases = readPhases(identity, activeKeys)
    if (phases.size === 0) {
      await save(identity)
      return buildResult('ok')
    }
    reportPhases(phases)
    const targetIdentity = identity
    const status = await applyIdentity(targetIdentity, async () =>
      save(await withHostKeys(targetIdentity, load)),
    )
    if (status !== 'ok') return buildResult(status)
    if (dryRun) return buildResult('changes-pending')
    for (const [key, phase] of phases) {
      const phaseStatus = await finishPhase(key, phase)
      if (phaseStatus !== 'ok') return buildResult(phaseStatus)
    }
    // Loads the identity again, because another process may have changed it during the rollout.
    identity = await advanceAll(await load(), [...phases.keys()], now())
  }
}

/**
 * Throws if API servers use the encryption configuration of another tool. Its keys are in that configuration, so a
 * new key of hyperkube would encrypt nothing. The same holds for a rotation that hyperkube 0.1.0 started: plans do not
 * contain its keys, so it stays in the identity without an effect.
 */
function requireOwnEncryption(identity: Identity): void {
  const { adoption } = identity
  if (adoption?.encryptionConfiguration === undefined) return
  const started =
    findReplacementPhase(identity, 'encryption') === undefined
      ? ''
      : 'ignore the rotation that an earlier release started: it has no effect and prevents nothing; '
  throw new HyperkubeError(
    'KEYS_ENCRYPTION_IMPORTED',
    `API servers encrypt with the configuration of ${adoption.from}, whose keys hyperkube cannot replace; nothing was changed`,
    { hint: `${started}rotate the other keys: hyperkube certs rotate-ca all` },
  )
}

/** Takes the host keys from disk, because host keys may have been added after the identity was read. */
async function withHostKeys(identity: Identity, load: KeyRotationDeps['load']): Promise<Identity> {
  return { ...identity, hostKeys: (await load()).hostKeys }
}

function readPhases(identity: Identity, keys: readonly KeyName[]): ReadonlyMap<KeyName, ReplacementPhase> {
  return new Map(
    keys.flatMap((key) => {
      const phase = findReplacementPhase(identity, key)
      return phase === undefined ? [] : [[key, phase] as const]
    }),
  )
}

async function advanceAll(identity: Identity, keys: readonly KeyName[], now: Date): Promise<Identity> {
  let next = identity
  for (const key of keys) next = await advanceReplacement(next, key, now)
  return next
}
