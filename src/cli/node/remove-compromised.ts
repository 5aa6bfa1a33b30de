import { z } from 'zod'
import { removeHost } from '../../actions/change-hosts.ts'
import { type KeyName, keyNames } from '../../identity/replace-key.ts'
import { joinNames } from '../../kit/text.ts'
import { listExposedSecrets } from '../../lifecycle/key-rotation/exposed-secrets.ts'
import { buildPlanDocument } from '../../lifecycle/proposal/plan-approval.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { buildIdentityPath } from '../../workspace/cluster-paths.ts'
import { limitHosts } from '../../workspace/limit-hosts.ts'
import { openApi } from '../../workspace/open-cluster.ts'
import { performRotation } from '../certs/rotate-keys.ts'
import { exitCodes } from '../command/command.ts'
import { printResult } from '../command/print.ts'
import { listClusterFlags } from '../command/typed-command.ts'
import { resultNames } from '../run/run-with-progress.ts'
import { withValidChange } from '../up/run-changed-up.ts'
import { performUp } from '../up/run-up.ts'
import { upFlags } from '../up/up-flags.ts'
import { type NodeAction, resolveNodeName } from './action.ts'

const flags = upFlags.extend({ restartPods: z.boolean().default(false) })

/**
 * Removes a host that an attacker may control. hyperkube does not connect to the host, because its answers
 * cannot be trusted. Its certificates stay valid until the CA that signed them is rotated, so the rotation is
 * part of the removal.
 */
export const removeCompromisedHost: NodeAction = async (invocation) => {
  const { context, options, cluster, name } = invocation
  const { forgetHostKey, dryRun, restartPods } = flags.parse(options)
  const [host] = limitHosts(cluster, [name])
  const node = resolveNodeName(invocation)
  return withValidChange(context, async () => {
    const change = await removeHost({ context, file: options.file, cluster }, name)
    // The changed cluster no longer contains the host, so the connection cannot use its API server.
    const exposed = await readExposure(host?.roles ?? [], async () => {
      await using opened = await openApi(context, options, change.cluster, forgetHostKey)
      return await listExposedSecrets(opened.api, node, context.signal)
    })
    const clusterFlags = listClusterFlags(context.typedCommand ?? '')
    context.stderr.write(formatIntent(name, exposed))
    const command = `node remove ${name}`
    const removal = await performUp(context, options, { ...change, command, untrustedHosts: [name] })
    if (dryRun) {
      const { plannedChanges } = removal
      const document = plannedChanges === undefined ? {} : buildPlanDocument(plannedChanges)
      printResult(context.stdout, options.output, document, () => '')
      return removal.code
    }
    if (removal.code !== exitCodes.ok) {
      context.stderr.write(formatUnfinished(exposed, restartPods, clusterFlags))
      return removal.code
    }
    // The operator has confirmed the rotation together with the removal, so `yes` prevents another prompt.
    const confirmed = { context, options: { ...options, yes: true as const }, ...change }
    for (const keys of exposed.rotations) {
      const { code } = await performRotation(confirmed, command, keys)
      if (code === exitCodes.ok) continue
      context.stderr.write(formatUnfinished(exposed, restartPods, clusterFlags))
      return code
    }
    const registries = listRegistries(cluster)
    const document = {
      apiVersion: 'hyperkube.dev/v1',
      kind: 'CompromisedHostResult',
      cluster: cluster.metadata.name,
      host: name,
      rotated: exposed.rotations.flat(),
      exposedSecrets: exposed.secrets ?? 'all',
      exposedRegistries: registries,
      outcome: resultNames[exitCodes.ok],
    }
    printResult(context.stdout, options.output, document, () =>
      formatResult(name, exposed, registries, buildIdentityPath(options.file)),
    )
    return exitCodes.ok
  })
}

/** What an attacker on the host could read. */
interface Exposure {
  /** Groups of keys to rotate, one group after the other. */
  readonly rotations: readonly (readonly KeyName[])[]
  /** Secrets as NAMESPACE/NAME; undefined if the host could read all Secrets of the cluster. */
  readonly secrets: readonly string[] | undefined
}

/**
 * Finds what an attacker on a host with these roles could read. A worker has certificates of the Kubernetes
 * CA. A control plane or etcd host has the keys of all CAs and the content of etcd. The token signing key is
 * rotated last, because its rotation may have to wait for tokens.
 */
async function readExposure(
  roles: readonly string[],
  listSecrets: () => Promise<readonly string[]>,
): Promise<Exposure> {
  if (roles.every((role) => role === 'worker'))
    return { rotations: [['kubernetes']], secrets: await listSecrets() }
  const tokenKey: KeyName = 'service-account'
  return { rotations: [keyNames.filter((key) => key !== tokenKey), [tokenKey]], secrets: undefined }
}

function listRegistries({ spec }: Cluster): string[] {
  return spec.registries.flatMap(({ host, password }) => (password === undefined ? [] : [host]))
}

function formatIntent(name: string, { rotations }: Exposure): string {
  return [
    `${name} counts as hostile: hyperkube does not connect to ${name} and does not reset it\n`,
    `after the removal, hyperkube rotates these keys with three rollouts: ${joinNames(rotations.flat())}\n`,
  ].join('')
}

/**
 * Formats the commands that finish an incomplete removal. The same command cannot be repeated, because
 * cluster.yml no longer contains the host.
 */
function formatUnfinished(
  { rotations }: Exposure,
  restartPods: boolean,
  clusterFlags: readonly string[],
): string {
  const restart = restartPods ? ['--restart-pods'] : []
  const commands = rotations.flat().includes('etcd')
    ? [
        ['certs rotate-ca all', ...restart],
        ['certs rotate-key encryption'],
        ['certs rotate-key service-account'],
      ]
    : [['certs rotate-ca kubernetes', ...restart]]
  const lines = [['up'], ...commands].map((words) => `  hyperkube ${[...words, ...clusterFlags].join(' ')}\n`)
  return `not all keys are rotated: the host may still have valid certificates. To finish, run in this order:\n${lines.join('')}`
}

function formatResult(
  name: string,
  { rotations, secrets }: Exposure,
  registries: readonly string[],
  identityFile: string,
): string {
  const secretText =
    secrets === undefined
      ? ['all Secrets of the cluster, and everything else in etcd']
      : [
          ...secrets.map((secret) => `Secret ${secret}`),
          'Secrets of pods that ran there earlier; the API does not know them',
        ]
  const lines = [
    ...secretText,
    ...registries.map((host) => `the password of registry ${host}`),
    'images, volumes and logs on its disks',
    'passwords that were typed on the host, or sent to it by ssh or sudo',
  ]
  return [
    `${name} is removed; rotated: ${joinNames(rotations.flat())}; certificates of ${name} are no longer valid\n`,
    'earlier kubeconfigs no longer work; create new ones: hyperkube kubeconfig\n',
    `an attacker on ${name} could read the following, and no rotation takes that back; replace each of them:\n`,
    ...lines.map((line) => `  ${line}\n`),
    `keep ${name} off the network; before it is used again, reinstall it from trusted media\n`,
    `${identityFile} has changed: commit it\n`,
  ].join('')
}
