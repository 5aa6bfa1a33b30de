import type { ActionStatus } from '../../actions/phases/action-run.ts'
import { finishRotationPhase, hasRotationWork } from '../../actions/phases/finish-rotation-phase.ts'
import { rotateKeys } from '../../actions/rotate-keys.ts'
import type { Identity, ReplacementPhase } from '../../identity/identity.ts'
import type { KeyName } from '../../identity/replace-key.ts'
import { joinNames } from '../../kit/text.ts'
import { buildPlanDocument, type PlannedChanges } from '../../lifecycle/proposal/plan-approval.ts'
import { caNames } from '../../pki/ca.ts'
import { buildIdentityPath } from '../../workspace/cluster-paths.ts'
import { openIdentity, saveIdentity } from '../../workspace/load-identity.ts'
import { type ExitCode, exitCodes } from '../command/command.ts'
import { printResult } from '../command/print.ts'
import { exitCodeByStatus, runAction, statusByExitCode } from '../run/run-action.ts'
import { resultNames } from '../run/run-with-progress.ts'
import { performUp } from '../up/run-up.ts'
import { type CertsAction, certsFlags, type CertsInvocation } from './action.ts'
import { rotateIdentityKey } from './rotate-identity.ts'

const otherKeys = ['service-account', 'encryption'] as const

export const rotatableCas = ['all', ...caNames] as const
export const rotatableKeys = [...otherKeys, 'identity'] as const

export const rotateCas: CertsAction = async (invocation) => {
  const [keyName = 'all'] = invocation.args
  const keys = keyName === 'all' ? caNames : caNames.filter((name) => name === keyName)
  return runRotation(invocation, `certs rotate-ca ${keyName}`, keys)
}

export const rotateKey: CertsAction = async (invocation) => {
  const [keyName] = invocation.args
  if (keyName === 'identity') return rotateIdentityKey(invocation)
  const keys = otherKeys.filter((name) => name === keyName)
  return runRotation(invocation, `certs rotate-key ${keyName}`, keys)
}

async function runRotation(
  invocation: CertsInvocation,
  command: string,
  requestedKeys: readonly KeyName[],
): Promise<ExitCode> {
  const { context, options, cluster } = invocation
  const { code, keys, plannedChanges } = await performRotation(invocation, command, requestedKeys)
  if (code === exitCodes.usage) return code
  const result = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'KeyRotationResult',
    cluster: cluster.metadata.name,
    keys,
    outcome: resultNames[code],
  }
  const document = plannedChanges === undefined ? result : buildPlanDocument(plannedChanges)
  const notStarted = requestedKeys.filter((key) => !keys.includes(key))
  printResult(context.stdout, options.output, document, () =>
    formatRotationResult(keys, notStarted, code, buildIdentityPath(options.file)),
  )
  return code
}

export interface RotationResult {
  readonly code: ExitCode
  /** The rotated keys; see `rotateKeys`. */
  readonly keys: readonly KeyName[]
  /** Planned changes of the next phase, in a dry run. */
  readonly plannedChanges?: PlannedChanges | undefined
}

/** Rotates keys without printing the result, for commands that print a result of their own. */
export async function performRotation(
  invocation: Omit<CertsInvocation, 'args'>,
  command: string,
  requestedKeys: readonly KeyName[],
): Promise<RotationResult> {
  const { context, options, cluster, findings } = invocation
  const { dryRun, progress } = certsFlags.parse(options)
  const { name } = cluster.metadata
  let plannedChanges: PlannedChanges | undefined
  const load = async (): Promise<Identity> => openIdentity(context, options, name)
  const { status, keys } = await rotateKeys({
    keys: requestedKeys,
    load,
    save: async (identity) => saveIdentity(context, options, identity),
    applyIdentity: async (identity, keep) => {
      const upResult = await performUp(context, options, {
        command,
        cluster,
        findings,
        identity,
        persist: keep,
      })
      plannedChanges = upResult.plannedChanges
      return statusByExitCode(upResult.code)
    },
    finishPhase: async (key, phase) => finishPhase(invocation, command, key, phase),
    reportPhases: (phases) => {
      // With JSON progress, the phases are not printed, because stderr must contain only events.
      if (progress !== 'json') context.stderr.write(`${formatPhases(phases)}\n`)
    },
    dryRun,
    now: context.now,
  })
  return { code: exitCodeByStatus[status], keys, plannedChanges }
}

/**
 * Does the work in the cluster that a key needs before its next phase. This work is a run with its own log.
 */
async function finishPhase(
  { context, options, cluster }: Omit<CertsInvocation, 'args'>,
  command: string,
  key: KeyName,
  phase: ReplacementPhase,
): Promise<ActionStatus> {
  if (!hasRotationWork(key, phase)) return 'ok'
  const { ignore, forgetHostKey, restartPods, progress } = certsFlags.parse(options)
  const settings = {
    command,
    cluster: cluster.metadata.name,
    progress,
  }
  const phaseOptions = { files: options, cluster, forgetHostKeys: forgetHostKey, ignore, restartPods }
  const { code } = await runAction(context, options, settings, async (run) =>
    finishRotationPhase(context, key, phase, phaseOptions, run),
  )
  return statusByExitCode(code)
}

const phaseTexts: Readonly<Record<ReplacementPhase, string>> = {
  trust: 'phase 1 of 3: hosts trust the new key and still use the previous key',
  switch: 'phase 2 of 3: hosts use the new key and still trust the previous key',
  distrust: 'phase 3 of 3: hosts no longer trust the previous key',
}

function formatPhases(phases: ReadonlyMap<KeyName, ReplacementPhase>): string {
  return [...Map.groupBy(phases.keys(), (key) => phases.get(key) ?? 'trust')]
    .map(([phase, keys]) => `${joinNames(keys)}: ${phaseTexts[phase]}`)
    .join('\n')
}

function formatRotationResult(
  keys: readonly KeyName[],
  notStarted: readonly KeyName[],
  code: ExitCode,
  file: string,
): string {
  if (code !== exitCodes.ok) return ''
  const kubeconfigText = keys.includes('kubernetes')
    ? 'earlier kubeconfigs no longer work; create new ones: hyperkube kubeconfig\n'
    : ''
  const notStartedText =
    notStarted.length === 0
      ? ''
      : `${joinNames(notStarted)}: not started, because other rotations were in progress; run the same command again\n`
  return `${joinNames(keys)}: rotated; the previous ${keys.length === 1 ? 'key is' : 'keys are'} no longer trusted\n${notStartedText}${kubeconfigText}${file} has changed: commit it\n`
}
