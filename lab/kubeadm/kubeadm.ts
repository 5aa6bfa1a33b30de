import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { settleAll } from '../../src/kit/concurrency.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { fetchScript, nodeFetches, pauseImage, programFetch } from '../cluster/artifacts.ts'
import { type Access, type Contender, type SetupContext, startAttempt } from '../cluster/contender.ts'
import { importImages } from '../cluster/import-images.ts'
import { networkFiles, runtimeFiles } from '../cluster/node-files.ts'
import { grantPermissions } from '../cluster/rbac.ts'
import { sendFiles } from '../cluster/send-files.ts'
import { machineArch } from '../components/build.ts'
import type { Host } from '../hosts/host.ts'
import { type JoinSecrets, kubeletUnit, renderInitConfig, renderJoinConfig } from './configs.ts'
import { listImageFetches } from './images.ts'

const configFile = 'etc/kubernetes/kubeadm.yaml'
const setupTimeoutMs = 300_000

/**
 * Upstream's kubeadm as a contender in the benchmark, under the best conditions. Downloads and imports run in
 * parallel, and joins start when `init` returns. Checks that a lab host cannot pass are skipped, and DNS is
 * not used.
 */
export const kubeadm: Contender = {
  name: 'kubeadm',
  begin: (context, signal) => startAttempt(async (reportAccess) => setUp(context, signal, reportAccess)),
}

async function setUp(
  context: SetupContext,
  signal: AbortSignal,
  reportAccess: (access: Access) => void,
): Promise<void> {
  const { clusterHosts } = context
  const [first, ...others] = clusterHosts.controlPlanes
  if (first === undefined) throw new Error('a cluster has at least one control plane')
  const hosts = [...clusterHosts.controlPlanes, ...clusterHosts.workers]
  const secrets: JoinSecrets = {
    token: `${randomBytes(3).toString('hex')}.${randomBytes(8).toString('hex')}`,
    certificateKey: randomBytes(32).toString('hex'),
  }
  const prepared = new Map(hosts.map((host) => [host, prepare(host, first, context, secrets, signal)]))
  for (const preparing of prepared.values()) preparing.catch(() => undefined)

  await prepared.get(first)
  const initialized = runKubeadm(first, 'init --skip-phases=addon/coredns --upload-certs', signal)
  const network = startNetwork(context, first, prepared, signal, reportAccess)
  const joinAll = async (): Promise<void> => {
    await initialized
    await settleAll(
      [...others, ...clusterHosts.workers].map(async (host) => {
        await prepared.get(host)
        await runKubeadm(host, 'join', signal)
      }),
    )
  }
  await settleAll([joinAll(), network])
}

async function runKubeadm(host: Host, verb: string, signal: AbortSignal): Promise<void> {
  await host.script(`kubeadm ${verb} --config /${configFile}`, { signal })
}

async function prepare(
  host: Host,
  first: Host,
  context: SetupContext,
  secrets: JoinSecrets,
  signal: AbortSignal,
): Promise<void> {
  const { clusterHosts, versions } = context
  const controlPlane = clusterHosts.controlPlanes.includes(host)
  const config =
    host === first
      ? renderInitConfig(first, versions, secrets)
      : renderJoinConfig(host, first, secrets, controlPlane)
  const arch = machineArch()
  const fetches = [
    ...nodeFetches(versions, arch),
    programFetch(`kubernetes@${versions.kubernetes}`, 'kubeadm', arch),
    ...listImageFetches(versions, controlPlane),
  ]
  await Promise.all([
    host.script(fetchScript(context, fetches), { signal }),
    sendFiles(host, {
      [configFile]: config,
      'etc/systemd/system/kubelet.service': kubeletUnit,
      ...runtimeFiles(pauseImage(versions)),
      ...networkFiles(host),
    }),
  ])
  await host.script(
    `sysctl -qp /etc/sysctl.d/90-kubernetes.conf
systemctl daemon-reload
systemctl enable -q kubelet containerd cni-conflist.path
systemctl start containerd cni-conflist.path
${importImages}`,
    { signal },
  )
}

/**
 * Starts flannel and kube-router on every host, because kubeadm does not install them. Their client
 * certificates are created as soon as kubeadm has created the CA.
 */
async function startNetwork(
  context: SetupContext,
  first: Host,
  prepared: ReadonlyMap<Host, Promise<void>>,
  signal: AbortSignal,
  reportAccess: (access: Access) => void,
): Promise<void> {
  const access = await pollUntil('kubeadm to write its credentials', async () => readAccess(first), {
    timeoutMs: setupTimeoutMs,
    signal,
  })
  reportAccess(access)
  const createConfig = async (user: string): Promise<string> => {
    const command = `kubeadm kubeconfig user --client-name ${user} --config /${configFile}`
    return (await first.script(command, { signal })).stdout
  }
  const files = {
    'etc/kubernetes/flannel.conf': await createConfig('flannel'),
    'etc/kubernetes/kube-router.conf': await createConfig('kube-router'),
  }
  await Promise.all([
    grantPermissions(context, access, signal),
    ...[...prepared].map(async ([host, preparing]) => {
      await preparing
      await sendFiles(host, files)
      const units = 'flanneld kube-router'
      await host.script(`systemctl enable -q ${units}\nsystemctl start --no-block ${units}`, { signal })
    }),
  ])
}

const kubeconfigSchema = z.object({
  clusters: z.tuple([z.object({ cluster: z.object({ 'certificate-authority-data': z.base64() }) })]),
  users: z.tuple([
    z.object({
      user: z.object({ 'client-certificate-data': z.base64(), 'client-key-data': z.base64() }),
    }),
  ]),
})

/**
 * Reads the credentials from the host's disk and not through ssh, so that reading them does not slow down the
 * measured setup.
 */
async function readAccess(first: Host): Promise<Access> {
  const directory = join(first.disk.directory, 'upper/etc/kubernetes')
  const read = async (path: string): Promise<string> => readFile(join(directory, path), 'utf8')
  const config = kubeconfigSchema.parse(parse(await read('super-admin.conf')))
  const decode = (text: string): string => Buffer.from(text, 'base64').toString('utf8')
  const [{ user }] = config.users
  return {
    api: {
      ca: decode(config.clusters[0].cluster['certificate-authority-data']),
      certificate: decode(user['client-certificate-data']),
      key: decode(user['client-key-data']),
    },
    etcd: {
      ca: await read('pki/etcd/ca.crt'),
      certificate: await read('pki/apiserver-etcd-client.crt'),
      key: await read('pki/apiserver-etcd-client.key'),
    },
  }
}
