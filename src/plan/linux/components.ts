import type { Planner } from '../component.ts'
import { extraFiles } from '../extra-files.ts'
import type { LinuxScene } from '../context.ts'
import { apiserverProxy } from './apiserver-proxy.ts'
import { containerd } from './containerd.ts'
import { etcd } from './etcd.ts'
import { flanneld } from './flanneld.ts'
import { hostSettings } from './host-settings.ts'
import { hyperkubeAgent } from './hyperkube-agent.ts'
import { hyperkubeControllerManager } from './hyperkube-controller-manager.ts'
import { images } from './addon-images.ts'
import { kubeApiserver } from './kube-apiserver.ts'
import { kubeControllerManager } from './kube-controller-manager.ts'
import { kubeProxy } from './kube-proxy.ts'
import { kubeScheduler } from './kube-scheduler.ts'
import { kubelet } from './kubelet.ts'
import { withCertificates } from './probes.ts'

/** Everything a Linux host may run, in the order in which it is set up. */
export const linuxComponents: readonly Planner<LinuxScene>[] = [
  hostSettings,
  extraFiles('root'),
  hyperkubeAgent,
  etcd,
  kubeApiserver,
  kubeControllerManager,
  kubeScheduler,
  hyperkubeControllerManager,
  containerd,
  apiserverProxy,
  kubelet,
  flanneld,
  kubeProxy,
  images,
].map(withCertificates)
