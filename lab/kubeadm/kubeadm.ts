import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { settleAll } from '../../src/kit/settle-all.ts'
import { until } from '../../src/kit/poll-until.ts'
import { fetchScript, nodeFetches, pauseImage, programFetch } from '../cluster/artifacts.ts'
import { type Access, attempt, type Contender, type Ground } from '../cluster/contender.ts'
import { importImages } from '../cluster/import-images.ts'
import { flannelFiles, runtimeFiles } from '../cluster/node-files.ts'
import { grantRights } from '../cluster/rbac.ts'
import { sendFiles } from '../cluster/send-files.ts'
import { machineArch } from '../components/build.ts'
import type { Host } from '../hosts/host.ts'
import { initConfig, joinConfig, type JoinSecrets, kubeletUnit } from './configs.ts'
import { imageFetches } from './images.ts'

const configFile = 'etc/kubernetes/kubeadm.yaml'
const patience = 300_000

/**
 * Upstream's kubeadm on the same hosts, with every fair chance: all is fetched and loaded in parallel, joins
 * start the moment `init` returns, no check asks for something a lab does not have, no name is looked up.
 */
export const kubeadm: Contender = {
  name: 'kubeadm',
  begin: (ground, signal) => attempt(async (known) => setUp(ground, signal, known)),
}

async function setUp(ground: Ground, signal: AbortSignal, known: (access: Access) => void): Promise<void> {
  const { cast } = ground
  const [first, ...others] = cast.controlPlanes
  if (first === undefined) throw new Error('a cluster has at least one control plane')
  const hosts = [...cast.controlPlanes, ...cast.workers]
  const secrets: JoinSecrets = {
    token: `${randomBytes(3).toString('hex')}.${randomBytes(8).toString('hex')}`,
    certificateKey: randomBytes(32).toString('hex'),
  }
  const prepared = new Map(hosts.map((host) => [host, prepare(host, first, ground, secrets, signal)]))
  for (const preparing of prepared.values()) preparing.catch(() => undefined)

  await prepared.get(first)
  const initialized = run(first, 'init --skip-phases=addon/coredns --upload-certs', signal)
  const network = startNetwork(ground, first, prepared, signal, known)
  const joinAll = async (): Promise<void> => {
    await initialized
    await settleAll(
      [...others, ...cast.workers].map(async (host) => {
        await prepared.get(host)
        await run(host, 'join', signal)
      }),
    )
  }
  await settleAll([joinAll(), network])
}

async function run(host: Host, verb: string, signal: AbortSignal): Promise<void> {
  await host.script(`kubeadm ${verb} --config /${configFile}`, { signal })
}

async function prepare(
  host: Host,
  first: Host,
  ground: Ground,
  secrets: JoinSecrets,
  signal: AbortSignal,
): Promise<void> {
  const { cast, versions } = ground
  const controlPlane = cast.controlPlanes.includes(host)
  const config =
    host === first ? initConfig(first, versions, secrets) : joinConfig(host, first, secrets, controlPlane)
  const arch = machineArch()
  const fetches = [
    ...nodeFetches(versions, arch),
    programFetch(`kubernetes@${versions.kubernetes}`, 'kubeadm', arch),
    ...imageFetches(versions, controlPlane),
  ]
  await Promise.all([
    host.script(fetchScript(ground, fetches), { signal }),
    sendFiles(host, {
      [configFile]: config,
      'etc/systemd/system/kubelet.service': kubeletUnit,
      ...runtimeFiles(pauseImage(versions)),
      ...flannelFiles(host),
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

/** flannel is not kubeadm's: its identity is made as soon as there is an authority, and it starts everywhere. */
async function startNetwork(
  ground: Ground,
  first: Host,
  prepared: ReadonlyMap<Host, Promise<void>>,
  signal: AbortSignal,
  known: (access: Access) => void,
): Promise<void> {
  const access = await until('kubeadm to write its credentials', async () => readAccess(first), {
    within: patience,
    signal,
  })
  known(access)
  const { stdout: flannel } = await first.script(
    `kubeadm kubeconfig user --client-name flannel --config /${configFile}`,
    { signal },
  )
  await Promise.all([
    grantRights(ground, access, signal),
    ...[...prepared].map(async ([host, preparing]) => {
      await preparing
      await sendFiles(host, { 'etc/kubernetes/flannel.conf': flannel })
      await host.script('systemctl enable -q flanneld\nsystemctl start --no-block flanneld', { signal })
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

/** Read from the host's disk, not through it: looking must not cost the contender anything. */
async function readAccess(first: Host): Promise<Access> {
  const directory = join(first.disk.directory, 'upper/etc/kubernetes')
  const read = async (path: string): Promise<string> => readFile(join(directory, path), 'utf8')
  const config = kubeconfigSchema.parse(parse(await read('super-admin.conf')))
  const decode = (text: string): string => Buffer.from(text, 'base64').toString('utf8')
  const [{ user }] = config.users
  return {
    api: {
      authority: decode(config.clusters[0].cluster['certificate-authority-data']),
      certificate: decode(user['client-certificate-data']),
      key: decode(user['client-key-data']),
    },
    etcd: {
      authority: await read('pki/etcd/ca.crt'),
      certificate: await read('pki/apiserver-etcd-client.crt'),
      key: await read('pki/apiserver-etcd-client.key'),
    },
  }
}
