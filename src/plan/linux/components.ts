import type { ComponentPlanner, LinuxPlanContext } from '../context.ts'
import { planExtraFiles } from '../files.ts'
import { planAddonImages } from './addon-images.ts'
import { planLinuxApiserverProxy } from './apiserver-proxy.ts'
import { planLinuxContainerd } from './containerd.ts'
import { planEtcd } from './etcd.ts'
import { planLinuxFlanneld } from './flanneld.ts'
import { planLinuxHostSettings } from './host-settings.ts'
import { planLinuxAgent } from './hyperkube-agent.ts'
import { planHyperkubeControllerManager } from './hyperkube-controller-manager.ts'
import { planHyperkubeKeepalived } from './hyperkube-keepalived.ts'
import { planKubeApiserver } from './kube-apiserver.ts'
import { planKubeControllerManager } from './kube-controller-manager.ts'
import { planLinuxKubeProxy } from './kube-proxy.ts'
import { planLinuxKubeRouter } from './kube-router.ts'
import { planKubeScheduler } from './kube-scheduler.ts'
import { planLinuxKubelet } from './kubelet.ts'
import { withPredecessor } from './predecessors.ts'
import { withCertificateProbes } from './probe-defaults.ts'

/** Planners of all components of a Linux host, in the order of installation. */
export const linuxComponents: readonly ComponentPlanner<LinuxPlanContext>[] = [
  planLinuxHostSettings,
  planExtraFiles('root'),
  planLinuxAgent,
  planEtcd,
  planKubeApiserver,
  planKubeControllerManager,
  planKubeScheduler,
  planHyperkubeControllerManager,
  planHyperkubeKeepalived,
  planLinuxContainerd,
  planLinuxApiserverProxy,
  planLinuxKubelet,
  planLinuxFlanneld,
  planLinuxKubeProxy,
  planLinuxKubeRouter,
  planAddonImages,
]
  .map(withCertificateProbes)
  .map(withPredecessor)
