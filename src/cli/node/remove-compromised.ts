import { z } from 'zod'
import { removeHost } from '../../actions/change-hosts.ts'
import type { KeyName } from '../../identity/replace-key.ts'
import { listExposedSecrets } from '../../lifecycle/key-rotation/exposed-secrets.ts'
import { buildPlanDocument } from '../../lifecycle/proposal/plan-approval.ts'
import { buildIdentityPath } from '../../workspace/cluster-paths.ts'
import { limitHosts } from '../../workspace/limit-hosts.ts'
import { openIdentity } from '../../workspace/load-identity.ts'
import { openApi } from '../../workspace/open-cluster.ts'
import { performRotation } from '../certs/rotate-keys.ts'
import { type ExitCode, exitCodes } from '../command/command.ts'
import { printResult } from '../command/print.ts'
import { listClusterFlags } from '../command/typed-command.ts'
import { resultNames } from '../run/run-with-progress.ts'
import { withValidChange } from '../up/run-changed-up.ts'
import { performUp } from '../up/run-up.ts'
import { upFlags } from '../up/up-flags.ts'
import { type NodeAction, resolveNodeName } from './action.ts'
import {
  type Exposure,
  formatIntent,
  formatResult,
  formatUnfinishedRotations,
  listRegistries,
  readExposure,
} from './exposure.ts'

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
    const identity = await openIdentity(context, options, cluster.metadata.name)
    const exposed = await readExposure(host?.roles ?? [], identity, async () => {
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
      context.stderr.write(formatUnfinishedRotations(exposed, restartPods, clusterFlags))
      return removal.code
    }
    // The operator has confirmed the rotation together with the removal, so `yes` prevents another prompt.
    const confirmed = { context, options: { ...options, yes: true as const }, ...change }
    const code = await rotateInOrder(
      exposed.rotations,
      async (keys) => (await performRotation(confirmed, command, keys)).code,
      () => context.stderr.write(formatUnfinishedRotations(exposed, restartPods, clusterFlags)),
    )
    if (code !== exitCodes.ok) return code
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

/**
 * Rotates groups of keys one after the other. Calls `onUnfinished` if a group fails or throws, because the operator
 * must then finish the rotation.
 */
export async function rotateInOrder(
  groups: Exposure['rotations'],
  rotate: (keys: readonly KeyName[]) => Promise<ExitCode>,
  onUnfinished: () => void,
): Promise<ExitCode> {
  for (const keys of groups) {
    const code = await rotate(keys).catch((error: unknown) => {
      onUnfinished()
      throw error
    })
    if (code === exitCodes.ok) continue
    onUnfinished()
    return code
  }
  return exitCodes.ok
}
