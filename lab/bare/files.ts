import { stringify } from 'yaml'
import { pauseImage, type Versions } from '../cluster/artifacts.ts'
import { hostSettings, kubeconfig, kubeProxyConfig } from '../cluster/configs.ts'
import { type Files, flannelFiles, runtimeFiles } from '../cluster/node-files.ts'
import type { Cast } from '../cluster/shape.ts'
import { network } from '../cluster/units.ts'
import type { Host } from '../hosts/host.ts'
import type { KeyPair, Pki } from './pki.ts'
import {
  apiServerUnit,
  controllerManagerUnit,
  etcdUnit,
  kubeletUnit,
  kubeProxyUnit,
  schedulerUnit,
} from './units.ts'

export interface Authorities {
  readonly kubernetes: KeyPair
  readonly etcd: KeyPair
  readonly frontProxy: KeyPair
}

export async function makeAuthorities(pki: Pki): Promise<Authorities> {
  const [kubernetes, etcd, frontProxy] = await Promise.all([
    pki.authority('kubernetes-ca'),
    pki.authority('etcd-ca'),
    pki.authority('front-proxy-ca'),
  ])
  return { kubernetes, etcd, frontProxy }
}

/** The same for every control plane. */
export async function sharedControlPlaneFiles(pki: Pki, authorities: Authorities): Promise<Files> {
  const { kubernetes, etcd, frontProxy } = authorities
  const [etcdClient, kubeletClient, proxyClient, tokens, controllerManager, scheduler] = await Promise.all([
    pki.sign(etcd, { commonName: 'kube-apiserver-etcd-client' }),
    pki.sign(kubernetes, { commonName: 'kube-apiserver-kubelet-client' }),
    pki.sign(frontProxy, { commonName: 'front-proxy-client' }),
    pki.signingKey(),
    pki.sign(kubernetes, { commonName: 'system:kube-controller-manager' }),
    pki.sign(kubernetes, { commonName: 'system:kube-scheduler' }),
  ])
  const local = 'https://127.0.0.1:6443'
  return {
    'etc/kubernetes/pki/ca.key': kubernetes.key,
    'etc/kubernetes/pki/etcd-ca.crt': etcd.certificate,
    'etc/kubernetes/pki/front-proxy-ca.crt': frontProxy.certificate,
    ...pair('apiserver-etcd-client', etcdClient),
    ...pair('apiserver-kubelet-client', kubeletClient),
    ...pair('front-proxy-client', proxyClient),
    'etc/kubernetes/pki/service-account.key': tokens.key,
    'etc/kubernetes/pki/service-account.pub': tokens.publicKey,
    'etc/kubernetes/controller-manager.conf': kubeconfig(local, kubernetes.certificate, controllerManager),
    'etc/kubernetes/scheduler.conf': kubeconfig(local, kubernetes.certificate, scheduler),
    'etc/systemd/system/kube-controller-manager.service': controllerManagerUnit(),
    'etc/systemd/system/kube-scheduler.service': schedulerUnit(),
  }
}

export async function controlPlaneFiles(
  pki: Pki,
  authorities: Authorities,
  host: Host,
  cast: Cast,
): Promise<Files> {
  const [etcd, apiServer] = await Promise.all([
    pki.sign(authorities.etcd, { commonName: host.name, server: [host.name, host.address, '127.0.0.1'] }),
    pki.sign(authorities.kubernetes, {
      commonName: 'kube-apiserver',
      server: [
        ...[
          'kubernetes',
          'kubernetes.default',
          'kubernetes.default.svc',
          'kubernetes.default.svc.cluster.local',
        ],
        ...[network.firstService, '127.0.0.1', 'localhost'],
        ...cast.controlPlanes.flatMap(({ name, address }) => [name, address]),
      ],
    }),
  ])
  return {
    ...pair('etcd', etcd),
    ...pair('apiserver', apiServer),
    'etc/systemd/system/etcd.service': etcdUnit(host, cast),
    'etc/systemd/system/kube-apiserver.service': apiServerUnit(host),
  }
}

export interface NodeWish {
  readonly host: Host
  /** The API server this node talks to. */
  readonly server: string
  readonly versions: Versions
  readonly mirror: string
  readonly controlPlane: boolean
}

export async function nodeFiles(pki: Pki, { kubernetes }: Authorities, wish: NodeWish): Promise<Files> {
  const { host, server, versions, mirror, controlPlane } = wish
  const [client, serving, proxy, flannel] = await Promise.all([
    pki.sign(kubernetes, { commonName: `system:node:${host.name}`, organization: 'system:nodes' }),
    pki.sign(kubernetes, { commonName: `system:node:${host.name}`, server: [host.name, host.address] }),
    pki.sign(kubernetes, { commonName: 'system:kube-proxy' }),
    pki.sign(kubernetes, { commonName: 'flannel' }),
  ])
  const config = (user: KeyPair): string => kubeconfig(server, kubernetes.certificate, user)
  return {
    'etc/kubernetes/pki/ca.crt': kubernetes.certificate,
    ...pair('kubelet', serving),
    'etc/kubernetes/kubelet.conf': config(client),
    'etc/kubernetes/kubelet.yaml': kubeletConfig({ controlPlane }),
    'etc/kubernetes/kube-proxy.conf': config(proxy),
    'etc/kubernetes/kube-proxy.yaml': stringify({
      ...kubeProxyConfig,
      clientConnection: { kubeconfig: '/etc/kubernetes/kube-proxy.conf' },
    }),
    'etc/kubernetes/flannel.conf': config(flannel),
    'etc/systemd/system/kubelet.service': kubeletUnit(host),
    'etc/systemd/system/kube-proxy.service': kubeProxyUnit(host),
    ...runtimeFiles(pauseImage(versions), mirror),
    ...flannelFiles(host),
  }
}

function pair(name: string, { certificate, key }: KeyPair): Files {
  return { [`etc/kubernetes/pki/${name}.crt`]: certificate, [`etc/kubernetes/pki/${name}.key`]: key }
}

function kubeletConfig({ controlPlane }: { controlPlane: boolean }): string {
  return stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: '/etc/kubernetes/pki/ca.crt' },
    },
    authorization: { mode: 'Webhook' },
    tlsCertFile: '/etc/kubernetes/pki/kubelet.crt',
    tlsPrivateKeyFile: '/etc/kubernetes/pki/kubelet.key',
    tlsMinVersion: 'VersionTLS12',
    clusterDomain: 'cluster.local',
    clusterDNS: [network.dns],
    ...hostSettings,
    ...(controlPlane
      ? { registerWithTaints: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }] }
      : {}),
  })
}
