import { stringify } from 'yaml'
import { pauseImage, type Versions } from '../cluster/artifacts.ts'
import { hostSettings, renderKubeconfig, kubeProxyConfig } from '../cluster/configs.ts'
import { type Files, networkFiles, runtimeFiles } from '../cluster/node-files.ts'
import type { ClusterHosts } from '../cluster/shape.ts'
import { clusterNetwork } from '../cluster/units.ts'
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

export interface ClusterCas {
  readonly kubernetes: KeyPair
  readonly etcd: KeyPair
  readonly frontProxy: KeyPair
}

export async function createCas(pki: Pki): Promise<ClusterCas> {
  const [kubernetes, etcd, frontProxy] = await Promise.all([
    pki.createCa('kubernetes-ca'),
    pki.createCa('etcd-ca'),
    pki.createCa('front-proxy-ca'),
  ])
  return { kubernetes, etcd, frontProxy }
}

/** Creates the files that are the same on every control plane. */
export async function sharedControlPlaneFiles(pki: Pki, cas: ClusterCas): Promise<Files> {
  const { kubernetes, etcd, frontProxy } = cas
  const [etcdClient, kubeletClient, proxyClient, tokenKeys, controllerManager, scheduler] = await Promise.all(
    [
      pki.sign(etcd, { commonName: 'kube-apiserver-etcd-client' }),
      pki.sign(kubernetes, { commonName: 'kube-apiserver-kubelet-client' }),
      pki.sign(frontProxy, { commonName: 'front-proxy-client' }),
      pki.signingKey(),
      pki.sign(kubernetes, { commonName: 'system:kube-controller-manager' }),
      pki.sign(kubernetes, { commonName: 'system:kube-scheduler' }),
    ],
  )
  const local = 'https://127.0.0.1:6443'
  return {
    'etc/kubernetes/pki/ca.key': kubernetes.key,
    'etc/kubernetes/pki/etcd-ca.crt': etcd.certificate,
    'etc/kubernetes/pki/front-proxy-ca.crt': frontProxy.certificate,
    ...keyPairFiles('apiserver-etcd-client', etcdClient),
    ...keyPairFiles('apiserver-kubelet-client', kubeletClient),
    ...keyPairFiles('front-proxy-client', proxyClient),
    'etc/kubernetes/pki/service-account.key': tokenKeys.key,
    'etc/kubernetes/pki/service-account.pub': tokenKeys.publicKey,
    'etc/kubernetes/controller-manager.conf': renderKubeconfig(
      local,
      kubernetes.certificate,
      controllerManager,
    ),
    'etc/kubernetes/scheduler.conf': renderKubeconfig(local, kubernetes.certificate, scheduler),
    'etc/systemd/system/kube-controller-manager.service': controllerManagerUnit(),
    'etc/systemd/system/kube-scheduler.service': schedulerUnit(),
  }
}

export async function controlPlaneFiles(
  pki: Pki,
  cas: ClusterCas,
  host: Host,
  clusterHosts: ClusterHosts,
): Promise<Files> {
  const [etcd, apiServer] = await Promise.all([
    pki.sign(cas.etcd, { commonName: host.name, server: [host.name, host.address, '127.0.0.1'] }),
    pki.sign(cas.kubernetes, {
      commonName: 'kube-apiserver',
      server: [
        ...[
          'kubernetes',
          'kubernetes.default',
          'kubernetes.default.svc',
          'kubernetes.default.svc.cluster.local',
        ],
        ...[clusterNetwork.firstService, '127.0.0.1', 'localhost'],
        ...clusterHosts.controlPlanes.flatMap(({ name, address }) => [name, address]),
      ],
    }),
  ])
  return {
    ...keyPairFiles('etcd', etcd),
    ...keyPairFiles('apiserver', apiServer),
    'etc/systemd/system/etcd.service': etcdUnit(host, clusterHosts),
    'etc/systemd/system/kube-apiserver.service': apiServerUnit(host),
  }
}

export interface NodeOptions {
  readonly host: Host
  /** The API server that this node connects to. */
  readonly server: string
  readonly versions: Versions
  readonly mirror: string
  readonly controlPlane: boolean
}

export async function nodeFiles(pki: Pki, { kubernetes }: ClusterCas, options: NodeOptions): Promise<Files> {
  const { host, server, versions, mirror, controlPlane } = options
  const [client, serving, proxy, flannel, kubeRouter] = await Promise.all([
    pki.sign(kubernetes, { commonName: `system:node:${host.name}`, organization: 'system:nodes' }),
    pki.sign(kubernetes, { commonName: `system:node:${host.name}`, server: [host.name, host.address] }),
    pki.sign(kubernetes, { commonName: 'system:kube-proxy' }),
    pki.sign(kubernetes, { commonName: 'flannel' }),
    pki.sign(kubernetes, { commonName: 'kube-router' }),
  ])
  const config = (user: KeyPair): string => renderKubeconfig(server, kubernetes.certificate, user)
  return {
    'etc/kubernetes/pki/ca.crt': kubernetes.certificate,
    ...keyPairFiles('kubelet', serving),
    'etc/kubernetes/kubelet.conf': config(client),
    'etc/kubernetes/kubelet.yaml': kubeletConfig({ controlPlane }),
    'etc/kubernetes/kube-proxy.conf': config(proxy),
    'etc/kubernetes/kube-proxy.yaml': stringify({
      ...kubeProxyConfig,
      clientConnection: { kubeconfig: '/etc/kubernetes/kube-proxy.conf' },
    }),
    'etc/kubernetes/flannel.conf': config(flannel),
    'etc/kubernetes/kube-router.conf': config(kubeRouter),
    'etc/systemd/system/kubelet.service': kubeletUnit(host),
    'etc/systemd/system/kube-proxy.service': kubeProxyUnit(host),
    ...runtimeFiles(pauseImage(versions), mirror),
    ...networkFiles(host),
  }
}

function keyPairFiles(name: string, { certificate, key }: KeyPair): Files {
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
    clusterDNS: [clusterNetwork.dns],
    ...hostSettings,
    ...(controlPlane
      ? { registerWithTaints: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }] }
      : {}),
  })
}
