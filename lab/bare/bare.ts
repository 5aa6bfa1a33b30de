import { settleAll } from '../../src/kit/settle-all.ts'
import { archiveFetch, type Fetch, fetchScript, nodeFetches, programFetch } from '../cluster/artifacts.ts'
import { type Access, attempt, type Contender, type Ground } from '../cluster/contender.ts'
import { importImages } from '../cluster/import-images.ts'
import type { Files } from '../cluster/node-files.ts'
import { grantRights } from '../cluster/rbac.ts'
import { sendFiles } from '../cluster/send-files.ts'
import { machineArch } from '../components/build.ts'
import type { Host } from '../hosts/host.ts'
import { applyAddons, writeAddons } from './addons.ts'
import { controlPlaneFiles, makeAuthorities, nodeFiles, sharedControlPlaneFiles } from './files.ts'
import { Pki } from './pki.ts'

/**
 * The engine alone: the same binaries as everyone's, started by systemd on all hosts at once, each service
 * waiting for what it needs. No tool can be faster; all are measured against it.
 */
export const bare: Contender = {
  name: 'bare',
  addons: true,
  async prepare(ground) {
    if (ground.addons) await writeAddons(ground)
  },
  begin: (ground, signal) => attempt(async (known) => setUp(ground, signal, known)),
}

async function setUp(ground: Ground, signal: AbortSignal, known: (access: Access) => void): Promise<void> {
  const { cast } = ground
  const hosts = [...cast.controlPlanes, ...cast.workers]
  const fetched = new Map(hosts.map((host) => [host, fetchAll(host, ground, signal)]))
  // Awaited below; a failure before that must not count as unhandled.
  for (const fetching of fetched.values()) fetching.catch(() => undefined)
  const { access, files } = await Pki.within(ground.directory, async (pki) => writeFiles(pki, ground))
  known(access)
  await settleAll([
    ...hosts.map(async (host) => {
      await sendFiles(host, files.get(host) ?? {})
      await fetched.get(host)
      await host.script(startScript(cast.controlPlanes.includes(host)), { signal })
    }),
    grantRights(ground, access, signal),
    ...(ground.addons ? [applyAddons(ground, access, signal)] : []),
  ])
}

async function fetchAll(host: Host, ground: Ground, signal: AbortSignal): Promise<void> {
  const { cast, versions } = ground
  const arch = machineArch()
  const kubernetes = `kubernetes@${versions.kubernetes}`
  const own: Fetch[] = cast.controlPlanes.includes(host)
    ? [
        archiveFetch(`etcd@${versions.etcd}`, '/usr/local/bin', 1, arch),
        programFetch(kubernetes, 'kube-apiserver', arch),
        programFetch(kubernetes, 'kube-controller-manager', arch),
        programFetch(kubernetes, 'kube-scheduler', arch),
      ]
    : []
  const all = [...own, ...nodeFetches(versions, arch), programFetch(kubernetes, 'kube-proxy', arch)]
  await host.script(fetchScript(ground, all), { signal })
}

async function writeFiles(
  pki: Pki,
  { cast, versions, mirror }: Ground,
): Promise<{ access: Access; files: ReadonlyMap<Host, Files> }> {
  const authorities = await makeAuthorities(pki)
  const [admin, etcdAdmin, shared] = await Promise.all([
    pki.sign(authorities.kubernetes, { commonName: 'admin', organization: 'system:masters' }),
    pki.sign(authorities.etcd, { commonName: 'admin' }),
    sharedControlPlaneFiles(pki, authorities),
  ])
  const controlPlanes = cast.controlPlanes.map(async (host) => {
    const node = { host, server: 'https://127.0.0.1:6443', versions, mirror, controlPlane: true }
    const [own, common] = await Promise.all([
      controlPlaneFiles(pki, authorities, host, cast),
      nodeFiles(pki, authorities, node),
    ])
    return [host, { ...shared, ...own, ...common }] as const
  })
  // Without a balancer, workers share the API servers out among themselves.
  const workers = cast.workers.map(async (host, index) => {
    const chosen = cast.controlPlanes[index % cast.controlPlanes.length]
    const node = { host, server: `https://${chosen?.address}:6443`, versions, mirror, controlPlane: false }
    return [host, await nodeFiles(pki, authorities, node)] as const
  })
  return {
    access: {
      etcd: { authority: authorities.etcd.certificate, ...etcdAdmin },
      api: { authority: authorities.kubernetes.certificate, ...admin },
    },
    files: new Map(await Promise.all([...controlPlanes, ...workers])),
  }
}

function startScript(controlPlane: boolean): string {
  const services = [
    ...(controlPlane ? ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] : []),
    ...['kubelet', 'kube-proxy', 'flanneld', 'cni-conflist.path'],
  ]
  return `
sysctl -qp /etc/sysctl.d/90-kubernetes.conf
systemctl daemon-reload
systemctl enable -q containerd ${services.join(' ')}
systemctl start --no-block containerd ${services.filter((name) => name !== 'kubelet').join(' ')}
systemctl start containerd
${importImages}
systemctl start --no-block kubelet
`
}
