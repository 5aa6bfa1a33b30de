import { hasPlainHttp, isFalse, isNotEmpty, isOneOf, isReachable, isTrue } from './predicates.ts'
import { configRule, flagRule, type JudgedRule, type WeakeningSetting } from './setting.ts'
import { verbosityRule } from './shared.ts'

const proxy = (path: string, rule: JudgedRule): WeakeningSetting =>
  configRule('kube-proxy', path.split('.'), rule)

export const kubeProxyRules: readonly WeakeningSetting[] = [
  proxy('metricsBindAddress', {
    severity: 'warning',
    weakens: isReachable,
    weak: '0.0.0.0:10249',
    safe: '127.0.0.1:10249',
    consequence: 'other hosts reach metrics and configuration of kube-proxy, which have no authentication',
    hint: 'remove it, or allow the port only for your monitoring in a firewall',
  }),
  proxy('enableProfiling', {
    severity: 'warning',
    weakens: isTrue,
    weak: true,
    safe: false,
    consequence: 'clients of the metrics port read memory contents of kube-proxy without authentication',
  }),
  proxy('healthzBindAddress', {
    severity: 'allowed',
    weakens: isReachable,
    weak: '0.0.0.0:10256',
    safe: '127.0.0.1:10256',
    consequence: 'other hosts reach the health port, which has no authentication',
    reason: 'load balancers need the port, and it answers only whether the node is ready',
  }),
  proxy('clientConnection.kubeconfig', {
    severity: 'error',
    weakens: isNotEmpty,
    weak: '/etc/kubernetes/admin.conf',
    safe: '',
    consequence: 'kube-proxy then acts as another user than the restricted one of its node',
  }),
  ...['iptables.masqueradeAll', 'nftables.masqueradeAll'].map((path) =>
    proxy(path, {
      severity: 'warning',
      weakens: isTrue,
      weak: true,
      safe: false,
      consequence:
        'pods see the address of a node as the client, so network policies cannot distinguish clients',
    }),
  ),
  proxy('iptables.localhostNodePorts', {
    severity: 'allowed',
    weakens: isTrue,
    weak: true,
    safe: false,
    consequence: 'processes of the host reach NodePorts through 127.0.0.1',
    reason: 'this is the default of kube-proxy in mode iptables, and NodePorts are open on all addresses',
  }),
  proxy('featureGates.AllAlpha', {
    severity: 'warning',
    weakens: isTrue,
    weak: true,
    safe: false,
    consequence: 'all alpha features are enabled, which have not been reviewed for production',
    hint: 'name the single features that you need',
  }),
  flagRule('kube-proxy', 'profiling', {
    severity: 'allowed',
    weakens: isTrue,
    weak: 'true',
    safe: 'false',
    consequence: 'clients of the metrics port read memory contents of kube-proxy',
    reason: 'kube-proxy ignores this flag, because it reads a configuration file',
  }),
  verbosityRule('kube-proxy'),
]

const runtimePlugin = ['plugins', 'io.containerd.cri.v1.runtime'] as const
const imagesPlugin = ['plugins', 'io.containerd.cri.v1.images'] as const
const runtimes = [...runtimePlugin, 'containerd', 'runtimes', '*'] as const
const containerd = (path: readonly string[], rule: JudgedRule): WeakeningSetting =>
  configRule('containerd', path, rule)

export const containerdRules: readonly WeakeningSetting[] = [
  containerd(['grpc', 'tcp_address'], {
    severity: 'error',
    weakens: isNotEmpty,
    weak: '0.0.0.0:1234',
    safe: '',
    consequence: 'clients that reach the port can start privileged containers on the host',
  }),
  containerd(['metrics', 'address'], {
    severity: 'warning',
    weakens: isReachable,
    weak: '0.0.0.0:1338',
    safe: '127.0.0.1:1338',
    consequence: 'other hosts read metrics of all containers without authentication',
  }),
  containerd(['plugins', 'io.containerd.grpc.v1.cri', 'stream_server_address'], {
    severity: 'error',
    weakens: isReachable,
    weak: '0.0.0.0',
    safe: '127.0.0.1',
    consequence: 'other hosts reach the port of exec sessions, past the authorization of the kubelet',
  }),
  containerd(['plugins', 'io.containerd.grpc.v1.cri', 'disable_tcp_service'], {
    severity: 'error',
    weakens: isFalse,
    weak: false,
    safe: true,
    consequence: 'the runtime API, which can start privileged containers, is also served by TCP',
  }),
  containerd([...runtimePlugin, 'enable_selinux'], {
    severity: 'warning',
    weakens: isFalse,
    weak: false,
    safe: true,
    consequence: 'on hosts with SELinux containers are no longer confined by it',
  }),
  containerd([...runtimePlugin, 'disable_apparmor'], {
    severity: 'warning',
    weakens: isTrue,
    weak: true,
    safe: false,
    consequence: 'AppArmor no longer confines containers, whatever their pods request',
  }),
  containerd([...runtimePlugin, 'enable_unprivileged_ports'], {
    severity: 'allowed',
    weakens: isTrue,
    weak: true,
    safe: false,
    consequence: 'containers bind ports below 1024 without a capability',
    reason: 'this applies only to the network of the pod, not to that of the host',
  }),
  containerd([...runtimePlugin, 'unset_seccomp_profile'], {
    severity: 'warning',
    weakens: isOneOf('unconfined'),
    weak: 'unconfined',
    safe: 'runtime/default',
    consequence: 'containers for which no profile is requested can use all system calls',
  }),
  containerd([...runtimes, 'privileged_without_host_devices_all_devices_allowed'], {
    severity: 'warning',
    weakens: isTrue,
    weak: true,
    safe: false,
    consequence: 'containers of this runtime can open every device of the host',
  }),
  containerd([...runtimes, 'cgroup_writable'], {
    severity: 'warning',
    weakens: isTrue,
    weak: true,
    safe: false,
    consequence: 'containers of this runtime can change their own resource limits',
  }),
  containerd([...runtimes, 'base_runtime_spec'], {
    severity: 'warning',
    weakens: isNotEmpty,
    weak: '/etc/mine/spec.json',
    safe: '',
    consequence: 'a file that hyperkube does not check sets capabilities and mounts of all containers',
  }),
  containerd([...runtimes, 'options', 'NoPivotRoot'], {
    severity: 'error',
    weakens: isTrue,
    weak: true,
    safe: false,
    consequence: 'containers can reach the root directory of the host',
  }),
  containerd([...imagesPlugin, 'registry', 'configs', '*', 'tls', 'insecure_skip_verify'], {
    severity: 'error',
    weakens: isTrue,
    weak: true,
    safe: false,
    consequence: 'an attacker on the network can replace images and read registry passwords',
    hint: 'install the CA certificate of the registry on the hosts',
  }),
  containerd([...imagesPlugin, 'registry', 'mirrors', '*', 'endpoint'], {
    severity: 'warning',
    weakens: hasPlainHttp,
    weak: ['http://registry.example.com'],
    safe: ['https://registry.example.com'],
    consequence: 'images cross the network without encryption, and tags can be replaced',
    hint: 'use spec.registries with https mirrors',
  }),
]
