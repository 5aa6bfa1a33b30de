import { settleAll } from '../../src/kit/concurrency.ts'
import type { Versions } from '../cluster/artifacts.ts'
import type { Host } from '../hosts/host.ts'
import { formatKubectlCommand } from './upgrade.ts'

const proxyAddress = '127.0.0.1:6444'

interface LocalProxyOptions {
  readonly hosts: readonly Host[]
  readonly first: Host
  /** Versions of the cluster. They also select the version of kubectl. */
  readonly versions: Versions
  readonly signal: AbortSignal
}

/**
 * Lets all nodes of a kubeadm cluster reach the API through a proxy on each host, as in clusters without a
 * load balancer. Otherwise nodes would only know the first control plane. kube-controller-manager and
 * kube-scheduler keep their previous API server.
 */
export async function switchToLocalProxy({
  hosts,
  first,
  versions,
  signal,
}: LocalProxyOptions): Promise<void> {
  const command = `${formatKubectlCommand(versions)} -n kube-system`
  await settleAll(
    hosts.map(async (host) =>
      host.script(
        `cd /etc/kubernetes
for file in kubelet.conf admin.conf flannel.conf kube-router.conf; do
  test ! -e $file || sed -i 's#server: https://.*#server: https://${proxyAddress}#' $file
done
systemctl restart kubelet flanneld kube-router`,
        { signal },
      ),
    ),
  )
  await first.script(
    `${command} get configmap kubeadm-config -o yaml |
sed 's/controlPlaneEndpoint: .*/controlPlaneEndpoint: ${proxyAddress}/' | ${command} replace -f -
${command} get configmap kube-proxy -o yaml | sed 's#server: https://.*#server: https://${proxyAddress}#' | ${command} replace -f -
${command} rollout restart daemonset kube-proxy
${command} rollout status daemonset kube-proxy --timeout=300s`,
    { signal },
  )
}
