import { settleAll } from '../../src/kit/settle-all.ts'
import type { Versions } from '../cluster/artifacts.ts'
import type { Host } from '../hosts/host.ts'
import { kubectl } from './upgrade.ts'

const proxy = '127.0.0.1:6444'

interface BehindProxy {
  readonly hosts: readonly Host[]
  readonly first: Host
  /** Of the kubectl that is there. */
  readonly versions: Versions
  readonly signal: AbortSignal
}

/**
 * Has all of a cluster that kubeadm has made speak with the API through a proxy of each host, as people do who have no load
 * balancer: nodes would otherwise know the first control plane alone. Its controllers ask their own API server as ever.
 */
export async function goBehindProxy({ hosts, first, versions, signal }: BehindProxy): Promise<void> {
  const kube = `${kubectl(versions)} -n kube-system`
  await settleAll(
    hosts.map(async (host) =>
      host.script(
        `cd /etc/kubernetes
for file in kubelet.conf admin.conf flannel.conf; do
  test ! -e $file || sed -i 's#server: https://.*#server: https://${proxy}#' $file
done
systemctl restart kubelet flanneld`,
        { signal },
      ),
    ),
  )
  await first.script(
    `${kube} get configmap kubeadm-config -o yaml |
sed 's/controlPlaneEndpoint: .*/controlPlaneEndpoint: ${proxy}/' | ${kube} replace -f -
${kube} get configmap kube-proxy -o yaml | sed 's#server: https://.*#server: https://${proxy}#' | ${kube} replace -f -
${kube} rollout restart daemonset kube-proxy
${kube} rollout status daemonset kube-proxy --timeout=300s`,
    { signal },
  )
}
