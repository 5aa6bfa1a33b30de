import { etcdDataDirectory } from '../../contract/etcd-restore.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Args } from '../../plan/args.ts'
import { listSharedApiNames } from '../../spec/api.ts'
import { usesKubeProxy } from '../../spec/network.ts'
import {
  buildPodArgs,
  type EjectInput,
  formatEtcdTag,
  keepsKubeadmDns,
  keepsKubeadmProxy,
  readVersion,
  selectControlPlaneEndpoint,
} from './eject-context.ts'
import { criSocket, pkiDirectory, type StaticPodComponent } from './layout.ts'
import { readKubeletFlags } from './kubelet-settings.ts'
import { listExtraVolumes } from './volumes.ts'

const apiVersion = 'kubeadm.k8s.io/v1beta4'

/** Builds the document from which `kubeadm upgrade` renders the static pods. */
export function buildClusterConfiguration(input: EjectInput, controlPlane: NodePlan): object {
  const { cluster } = input
  const { api, network, hosts } = cluster.spec
  const addresses = hosts.filter(({ roles }) => roles.includes('control-plane')).map((host) => host.address)
  const sans = ['localhost', '127.0.0.1', ...addresses, ...listSharedApiNames(api), ...api.sans]
  const component = (name: StaticPodComponent): object => {
    const { all, extra } = buildPodArgs(input, controlPlane, name)
    const volumes = listExtraVolumes(name, all)
    return {
      ...formatExtraArgs(extra),
      ...(volumes.length === 0
        ? {}
        : {
            extraVolumes: volumes.map(({ name: volume, path, type, readOnly }) => ({
              name: volume,
              hostPath: path,
              mountPath: path,
              readOnly,
              pathType: type,
            })),
          }),
    }
  }
  return {
    apiVersion,
    kind: 'ClusterConfiguration',
    clusterName: cluster.metadata.name,
    kubernetesVersion: readVersion(controlPlane, 'kube-apiserver'),
    controlPlaneEndpoint: selectControlPlaneEndpoint(input),
    certificatesDir: pkiDirectory,
    encryptionAlgorithm: 'ECDSA-P256',
    networking: {
      dnsDomain: network.domain,
      podSubnet: network.pods.join(','),
      serviceSubnet: network.services.join(','),
    },
    apiServer: { certSANs: [...new Set(sans)], ...component('kube-apiserver') },
    controllerManager: component('kube-controller-manager'),
    scheduler: component('kube-scheduler'),
    etcd: {
      local: {
        dataDir: etcdDataDirectory,
        imageTag: formatEtcdTag(controlPlane),
        ...formatExtraArgs(buildPodArgs(input, controlPlane, 'etcd').extra),
      },
    },
    // Objects of DNS stay as they are, because hyperkube's and those of RKE1 differ from kubeadm's.
    dns: { disabled: !keepsKubeadmDns(input) },
    proxy: { disabled: !usesKubeProxy(network) && !keepsKubeadmProxy(input) },
  }
}

/** Builds the document that describes one host. */
export function buildInitConfiguration(plan: NodePlan, apiPort: number): object {
  return {
    apiVersion,
    kind: 'InitConfiguration',
    localAPIEndpoint: { advertiseAddress: plan.address, bindPort: apiPort },
    nodeRegistration: {
      name: plan.node?.name,
      criSocket,
      taints: plan.node?.taints ?? [],
      kubeletExtraArgs: formatExtraArgs(readKubeletFlags(plan)).extraArgs,
    },
  }
}

function formatExtraArgs(args: Args): { readonly extraArgs: readonly object[] } {
  return { extraArgs: Object.entries(args).map(([name, value]) => ({ name, value })) }
}
