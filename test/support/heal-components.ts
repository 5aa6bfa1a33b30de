import type { Host } from '../../lab/hosts/host.ts'
import { etcdctl } from './etcdctl.ts'
import type { Component } from './heal-row.ts'
import type { HealCluster } from './heal-cluster.ts'

/** Address of the Service of the test application (app=shop). */
export const shopAddress = '10.96.88.88'
export const overlay = 'flannel.4096'
export const conflist = '/etc/cni/net.d/10-flannel.conflist'
export const subnetFile = '/run/flannel/subnet.env'

const expectBody = (word: string, url: string): string => `test "$(curl -skm 3 ${url})" = ${word}`

/** Script for each component that succeeds if the component works. The scripts do not use hyperkube. */
const scripts: Readonly<Record<Component, string>> = {
  etcd: `(${etcdctl} --endpoints=https://127.0.0.1:2379 --command-timeout=4s endpoint health)`,
  'kube-apiserver': expectBody('ok', 'https://127.0.0.1:6443/readyz'),
  'kube-controller-manager': expectBody('ok', 'https://127.0.0.1:10257/healthz'),
  'kube-scheduler': expectBody('ok', 'https://127.0.0.1:10259/healthz'),
  containerd: 'timeout 6 /opt/hyperkube/crictl-*/crictl --timeout 4s pods -q > /dev/null',
  kubelet: expectBody('ok', 'http://127.0.0.1:10248/healthz'),
  'kube-proxy': `curl -fsm 3 http://127.0.0.1:10256/livez > /dev/null
    curl -fsm 3 http://${shopAddress}/hostname > /dev/null`,
  flanneld: `curl -fsm 3 http://127.0.0.1:10246/healthz > /dev/null
    ip link show ${overlay} | grep -q '[<,]UP[,>]'`,
}

/** True if a component works. For kubelet and containerd the node must also be Ready. */
export async function isWorking(cluster: HealCluster, host: Host, component: Component): Promise<boolean> {
  const active = `test "$(systemctl is-active ${component})" = active`
  const routes = `test "$(ip -o route show dev ${overlay} | wc -l)" -ge ${cluster.hosts.length - 1}`
  const script = [active, scripts[component], ...(component === 'flanneld' ? [routes] : [])].join('\n')
  if (!(await cluster.scriptSucceeds(host, script))) return false
  return !['kubelet', 'containerd'].includes(component) || cluster.isReady(host)
}

/** True if all components of a host work. */
export async function areAllWorking(cluster: HealCluster, host: Host): Promise<boolean> {
  const nodeComponents = ['containerd', 'kubelet', 'kube-proxy', 'flanneld'] as const
  const controlPlaneComponents = [
    'etcd',
    'kube-apiserver',
    'kube-controller-manager',
    'kube-scheduler',
  ] as const
  for (const component of [
    ...(host.name.startsWith('cp') ? controlPlaneComponents : []),
    ...nodeComponents,
  ]) {
    if (!(await isWorking(cluster, host, component))) return false
  }
  return true
}
