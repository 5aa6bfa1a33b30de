import type { Identity } from '../../identity/identity.ts'
import { advanceReplacement, type KeyName, findReplacementPhase } from '../../identity/replace-key.ts'
import type { ReplacementPhase } from '../../identity/replacement.ts'
import { type ExitCode, exitCodes } from '../command.ts'

/** Inputs and effects of a key rotation. Tests replace the effects. */
export interface KeyRotationDeps {
  readonly keys: readonly KeyName[]
  /** Reads the identity from disk. */
  readonly load: () => Promise<Identity>
  readonly save: (identity: Identity) => Promise<void>
  /**
   * Brings all hosts to an identity. `persist` is called after confirmation and before any host is changed.
   */
  readonly applyIdentity: (identity: Identity, persist: () => Promise<void>) => Promise<ExitCode>
  /** Does the work in the cluster that makes the next phase safe, after all hosts have reached a phase. */
  readonly finishPhase: (key: KeyName, phase: ReplacementPhase) => Promise<ExitCode>
  /** Reports the next phases. */
  readonly reportPhases: (phases: ReadonlyMap<KeyName, ReplacementPhase>) => void
  readonly dryRun: boolean
  readonly now: () => Date
}

export interface KeyRotationResult {
  readonly code: ExitCode
  /**
   * The rotated keys. If a rotation was in progress, these are only its keys, because no other rotation is
   * started.
   */
  readonly keys: readonly KeyName[]
}

/**
 * Takes keys through all phases of their replacement, with one rollout per phase. The identity records the
 * phase, so the same call resumes after an interrupt. A rotation in progress is finished before another one
 * starts.
 */
export async function rotateKeysByPhase(deps: KeyRotationDeps): Promise<KeyRotationResult> {
  const { keys, load, save, applyIdentity, finishPhase, reportPhases, dryRun, now } = deps
  let identity = await load()
  const started = keys.filter((key) => findReplacementPhase(identity, key) !== undefined)
  const activeKeys = started.length > 0 ? started : keys
  const buildResult = (code: ExitCode): KeyRotationResult => ({ code, keys: activeKeys })
  if (started.length === 0) identity = await advanceAll(identity, keys, now())
  for (;;) {
    const phases = readPhases(identity, activeKeys)
    if (phases.size === 0) {
      await save(identity)
      return buildResult(exitCodes.ok)
    }
    reportPhases(phases)
    const targetIdentity = identity
    const code = await applyIdentity(targetIdentity, async () =>
      save(await withHostKeys(targetIdentity, load)),
    )
    if (code !== exitCodes.ok) return buildResult(code)
    if (dryRun) return buildResult(exitCodes.changesPending)
    for (const [key, phase] of phases) {
      const phaseCode = await finishPhase(key, phase)
      if (phaseCode !== exitCodes.ok) return buildResult(phaseCode)
    }
    // Another process may have changed the identity meanwhile.
    identity = await advanceAll(await load(), [...phases.keys()], now())
  }
}

/** Takes the host keys from disk, because some may have been added meanwhile. */
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
