import type { Planner } from '../component.ts'
import { extraFiles } from '../extra-files.ts'
import type { WindowsScene } from '../context.ts'
import { apiserverProxy } from './apiserver-proxy.ts'
import { containerd } from './containerd.ts'
import { flanneld } from './flanneld.ts'
import { hostSettings } from './host-settings.ts'
import { hyperkubeAgent } from './hyperkube-agent.ts'
import { kubeProxy } from './kube-proxy.ts'
import { kubelet } from './kubelet.ts'
import { owner } from './paths.ts'

/** Everything a Windows host may run, in the order in which it is set up. It is always a worker. */
export const windowsComponents: readonly Planner<WindowsScene>[] = [
  hostSettings,
  extraFiles(owner),
  hyperkubeAgent,
  containerd,
  apiserverProxy,
  kubelet,
  flanneld,
  kubeProxy,
]
