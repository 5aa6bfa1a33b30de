import type { Host } from '../../lab/hosts/host.ts'
import { etcdctl } from './etcdctl.ts'
import type { Component } from './heal-row.ts'
import type { HealScene } from './heal-cluster.ts'

/** Of the service that has visitors all the while. */
export const shopAddress = '10.96.88.88'
export const overlay = 'flannel.4096'
export const conflist = '/etc/cni/net.d/10-flannel.conflist'
export const subnetFile = '/run/flannel/subnet.env'

const says = (word: string, url: string): string => `test "$(curl -skm 3 ${url})" = ${word}`

/** Each in a script that ends well when the component does its work, with nobody of ours asked. */
const scripts: Readonly<Record<Component, string>> = {
  etcd: `(${etcdctl} --endpoints=https://127.0.0.1:2379 --command-timeout=4s endpoint health)`,
  'kube-apiserver': says('ok', 'https://127.0.0.1:6443/readyz'),
  'kube-controller-manager': says('ok', 'https://127.0.0.1:10257/healthz'),
  'kube-scheduler': says('ok', 'https://127.0.0.1:10259/healthz'),
  containerd: 'timeout 6 /opt/hyperkube/crictl-*/crictl --timeout 4s pods -q > /dev/null',
  kubelet: says('ok', 'http://127.0.0.1:10248/healthz'),
  'kube-proxy': `curl -fsm 3 http://127.0.0.1:10256/livez > /dev/null
    curl -fsm 3 http://${shopAddress}/hostname > /dev/null`,
  flanneld: `curl -fsm 3 http://127.0.0.1:10246/healthz > /dev/null
    ip link show ${overlay} | grep -q '[<,]UP[,>]'`,
}

/** Whether a component works, and the node is what others need of it. */
export async function works(scene: HealScene, host: Host, component: Component): Promise<boolean> {
  const active = `test "$(systemctl is-active ${component})" = active`
  const routes = `test "$(ip -o route show dev ${overlay} | wc -l)" -ge ${scene.hosts.length - 1}`
  const script = [active, scripts[component], ...(component === 'flanneld' ? [routes] : [])].join('\n')
  if (!(await scene.holds(host, script))) return false
  return !['kubelet', 'containerd'].includes(component) || scene.isReady(host)
}

/** Whether all works that a host has. */
export async function allWorks(scene: HealScene, host: Host): Promise<boolean> {
  const ofNode = ['containerd', 'kubelet', 'kube-proxy', 'flanneld'] as const
  const ofControlPlane = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const
  for (const component of [...(host.name.startsWith('cp') ? ofControlPlane : []), ...ofNode]) {
    if (!(await works(scene, host, component))) return false
  }
  return true
}
