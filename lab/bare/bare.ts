import { settleAll } from '../../src/kit/concurrency.ts'
import { archiveFetch, type Fetch, fetchScript, nodeFetches, programFetch } from '../cluster/artifacts.ts'
import { type Access, type Contender, type SetupContext, startAttempt } from '../cluster/contender.ts'
import { importImages } from '../cluster/import-images.ts'
import type { Files } from '../cluster/node-files.ts'
import { grantPermissions } from '../cluster/rbac.ts'
import { sendFiles } from '../cluster/send-files.ts'
import { machineArch } from '../components/build.ts'
import type { Host } from '../hosts/host.ts'
import { applyAddons, writeAddons } from './addons.ts'
import { controlPlaneFiles, createCas, nodeFiles, sharedControlPlaneFiles } from './files.ts'
import { Pki } from './pki.ts'

/**
 * Benchmark contender without a setup tool: systemd starts the upstream binaries on all hosts at once, and
 * each service waits for its dependencies. The benchmark compares all other contenders with this one.
 */
export const bare: Contender = {
  name: 'bare',
  addons: true,
  async prepare(context) {
    if (context.addons) await writeAddons(context)
  },
  begin: (context, signal) => startAttempt(async (reportAccess) => setUp(context, signal, reportAccess)),
}

async function setUp(
  context: SetupContext,
  signal: AbortSignal,
  reportAccess: (access: Access) => void,
): Promise<void> {
  const { clusterHosts } = context
  const hosts = [...clusterHosts.controlPlanes, ...clusterHosts.workers]
  const fetched = new Map(hosts.map((host) => [host, fetchAll(host, context, signal)]))
  // The downloads are awaited below. Without this handler, an earlier failure would be an unhandled
  // rejection.
  for (const fetching of fetched.values()) fetching.catch(() => undefined)
  const { access, files } = await Pki.withTemporary(context.directory, async (pki) =>
    writeFiles(pki, context),
  )
  reportAccess(access)
  await settleAll([
    ...hosts.map(async (host) => {
      await sendFiles(host, files.get(host) ?? {})
      await fetched.get(host)
      await host.script(startScript(clusterHosts.controlPlanes.includes(host)), { signal })
    }),
    grantPermissions(context, access, signal),
    ...(context.addons ? [applyAddons(context, access, signal)] : []),
  ])
}

async function fetchAll(host: Host, context: SetupContext, signal: AbortSignal): Promise<void> {
  const { clusterHosts, versions } = context
  const arch = machineArch()
  const kubernetes = `kubernetes@${versions.kubernetes}`
  const specific: Fetch[] = clusterHosts.controlPlanes.includes(host)
    ? [
        archiveFetch(`etcd@${versions.etcd}`, '/usr/local/bin', 1, arch),
        programFetch(kubernetes, 'kube-apiserver', arch),
        programFetch(kubernetes, 'kube-controller-manager', arch),
        programFetch(kubernetes, 'kube-scheduler', arch),
      ]
    : []
  const all = [...specific, ...nodeFetches(versions, arch), programFetch(kubernetes, 'kube-proxy', arch)]
  await host.script(fetchScript(context, all), { signal })
}

async function writeFiles(
  pki: Pki,
  { clusterHosts, versions, mirror }: SetupContext,
): Promise<{ access: Access; files: ReadonlyMap<Host, Files> }> {
  const cas = await createCas(pki)
  const [admin, etcdAdmin, shared] = await Promise.all([
    pki.sign(cas.kubernetes, { commonName: 'admin', organization: 'system:masters' }),
    pki.sign(cas.etcd, { commonName: 'admin' }),
    sharedControlPlaneFiles(pki, cas),
  ])
  const controlPlanes = clusterHosts.controlPlanes.map(async (host) => {
    const node = { host, server: 'https://127.0.0.1:6443', versions, mirror, controlPlane: true }
    const [specific, common] = await Promise.all([
      controlPlaneFiles(pki, cas, host, clusterHosts),
      nodeFiles(pki, cas, node),
    ])
    return [host, { ...shared, ...specific, ...common }] as const
  })
  // There is no load balancer: each worker uses one API server, assigned round-robin.
  const workers = clusterHosts.workers.map(async (host, index) => {
    const chosen = clusterHosts.controlPlanes[index % clusterHosts.controlPlanes.length]
    const node = { host, server: `https://${chosen?.address}:6443`, versions, mirror, controlPlane: false }
    return [host, await nodeFiles(pki, cas, node)] as const
  })
  return {
    access: {
      etcd: { ca: cas.etcd.certificate, ...etcdAdmin },
      api: { ca: cas.kubernetes.certificate, ...admin },
    },
    files: new Map(await Promise.all([...controlPlanes, ...workers])),
  }
}

function startScript(controlPlane: boolean): string {
  const services = [
    ...(controlPlane ? ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] : []),
    ...['kubelet', 'kube-proxy', 'flanneld', 'kube-router', 'cni-conflist.path'],
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
