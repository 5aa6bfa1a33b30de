import { parse } from 'yaml'
import { z } from 'zod'
import { pollUntil } from '../../src/kit/poll.ts'
import { type Access, startAttempt, type Contender, type SetupContext } from '../cluster/contender.ts'
import { createWorkspace, prepareWorkspace } from './workspace.ts'

const name = 'hyperkube'

/**
 * Sets up a cluster with hyperkube, as an operator would. The workspace's files are created before the time
 * measurement starts, like the keys of the other tools in the benchmark.
 */
export const hyperkube: Contender = {
  name,
  addons: true,
  async prepare(context) {
    const workspace = createWorkspace(context, name)
    await prepareWorkspace(context, workspace)
    await workspace.runHyperkube('init')
  },
  begin: (context, signal) =>
    startAttempt(async (reportAccess) => {
      const up = createWorkspace(context, name, signal).runHyperkube('up', '--yes')
      reportAccess(
        await Promise.race([readAccess(context, signal), up.then(async () => readAccess(context, signal))]),
      )
      await up
    }),
}

const kubeconfigSchema = z.object({
  clusters: z.array(z.object({ cluster: z.object({ 'certificate-authority-data': z.base64() }) })).min(1),
  users: z
    .array(
      z.object({ user: z.object({ 'client-certificate-data': z.base64(), 'client-key-data': z.base64() }) }),
    )
    .min(1),
})

/**
 * Reads the credentials for the API from `hyperkube kubeconfig`, and those for etcd from the files on a host.
 */
async function readAccess(context: SetupContext, signal: AbortSignal): Promise<Access> {
  const { stdout } = await createWorkspace(context, name, signal).runHyperkube(
    'kubeconfig',
    '--break-glass',
    '--for',
    '1h',
  )
  const { clusters, users } = kubeconfigSchema.parse(parse(stdout))
  const [cluster, user] = [clusters[0]?.cluster, users[0]?.user]
  const text = (data: string | undefined): string => Buffer.from(data ?? '', 'base64').toString('utf8')
  const [first] = context.clusterHosts.controlPlanes
  const read = async (file: string): Promise<string> =>
    pollUntil(
      `${file} of etcd`,
      async () => {
        const result = await first?.exec(['cat', `/etc/hyperkube/etcd/${file}`], { allowFailure: true })
        return result?.code === 0 && result.stdout
      },
      { timeoutMs: 300_000, signal },
    )
  return {
    api: {
      ca: text(cluster?.['certificate-authority-data']),
      certificate: text(user?.['client-certificate-data']),
      key: text(user?.['client-key-data']),
    },
    etcd: {
      ca: await read('ca.crt'),
      certificate: await read('client.crt'),
      key: await read('client.key'),
    },
  }
}
