import { dirname, join } from 'node:path'
import { createIgnoreFilter, type Finding, hasErrors } from '../contract/finding.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { buildEject } from '../lifecycle/eject/build-eject.ts'
import { checkEject } from '../lifecycle/eject/check-eject.ts'
import { type ComponentRow, listComponentFates } from '../lifecycle/eject/component-fate.ts'
import type { EjectInput } from '../lifecycle/eject/eject-context.ts'
import { type CompleteFile, completeFiles } from '../lifecycle/eject/issue-credentials.ts'
import type { ClusterInputs } from '../lifecycle/inputs/cluster-inputs.ts'
import type { LocalFiles, WorkspaceContext } from '../workspace/context.ts'
import {
  type ActionOutcome,
  type ActionRun,
  buildRefusedOutcome,
  buildUnconfirmedOutcome,
  refuse,
} from './phases/action-run.ts'
import type { ConnectClusterOptions } from './phases/connect.ts'
import { planFromHosts } from './plan.ts'

export interface EjectOptions extends ConnectClusterOptions {
  /** Codes of findings that do not stop the action. */
  readonly ignore: readonly string[]
  /** Directory that is created. */
  readonly directory: string
  /** Whether files are only listed. */
  readonly dryRun: boolean
}

export interface EjectOutcome extends ActionOutcome {
  readonly components: readonly ComponentRow[]
  /** Paths of the written files, or of those that would be written. */
  readonly files: readonly string[]
}

const nothing = { components: [], files: [] } as const

/**
 * Writes what a kubeadm user needs to continue without hyperkube. Phases: connect, plan, check, show, confirm,
 * write. Changes no host.
 */
export async function eject(
  context: WorkspaceContext,
  inputs: ClusterInputs,
  options: EjectOptions,
  run: ActionRun,
): Promise<EjectOutcome> {
  const { directory, ignore, dryRun } = options
  if (await context.exists(directory)) return { ...refuse(run, [alreadyExists(directory)]), ...nothing }
  const planned = await planFromHosts(
    context,
    inputs,
    { ...options, limit: undefined, fileContents: false },
    run,
  )
  if (planned.status === 'failed') return { ...planned, ...nothing }
  if (planned.status === 'changes-pending') return { ...refuse(run, [changesPending]), ...nothing }
  const input = buildEjectInput(inputs, planned.proposal.plans)
  const findings = checkEject(input, inputs.identity).filter(createIgnoreFilter(ignore, isMandatory))
  for (const finding of findings) run.emit({ type: 'finding', finding })
  if (hasErrors(findings)) return { ...buildRefusedOutcome(findings), ...nothing }
  const documents = buildEject(input)
  const components = listComponentFates(input)
  const files = documents.files.map(({ path }) => join(directory, path))
  run.show({ type: 'eject', components, directory })
  const result = { outcome: 'unchanged' } as const
  if (dryRun) return { status: 'changes-pending', result, components, files }
  const confirmation = await run.confirm({ type: 'changes' })
  if (confirmation !== 'confirmed') return { ...buildUnconfirmedOutcome(confirmation), ...nothing }
  await writeFiles(context, directory, await completeFiles(documents, inputs.identity, context.now()))
  return { status: 'ok', result: { outcome: 'done' }, components, files }
}

/** Only different settings of kube-proxy can be accepted. All other findings would break the cluster. */
function isMandatory(code: string): boolean {
  return code !== 'EJECT_KUBE_PROXY'
}

function buildEjectInput({ cluster, identity }: ClusterInputs, plans: EjectInput['plans']): EjectInput {
  const { kubernetes, etcd, frontProxy } = identity.cas
  return {
    cluster,
    plans,
    cas: {
      kubernetes: kubernetes.certificate,
      etcd: etcd.certificate,
      frontProxy: frontProxy.certificate,
    },
    serviceAccountKey: identity.serviceAccount.publicKey,
    adoptedFrom: identity.adoption?.from,
  }
}

function alreadyExists(directory: string): Finding {
  return {
    code: 'EJECT_EXISTS',
    severity: 'error',
    message: `${directory} already exists; files with keys are never overwritten`,
    hint: 'remove the directory, or use another one: --out DIRECTORY',
  }
}

const changesPending: Finding = {
  code: 'EJECT_CHANGES_PENDING',
  severity: 'error',
  message: 'hosts differ from cluster.yml or are unreachable, so the written files would not fit',
  hint: 'show the changes: hyperkube plan; make them: hyperkube up',
}

async function writeFiles(
  { makePrivateDirectory, createFile }: LocalFiles,
  directory: string,
  files: readonly CompleteFile[],
): Promise<void> {
  for (const { path, executable, content } of files) {
    const target = join(directory, path)
    try {
      await makePrivateDirectory(dirname(target))
      await createFile(target, content.revealText(), executable === true ? 0o700 : 0o600)
    } catch (cause) {
      throw new HyperkubeError('EJECT_NOT_WRITTEN', `cannot write ${target}`, {
        hint: `remove ${directory}, which can contain keys, then run the same command again`,
        cause,
      })
    }
  }
}
