import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { readCluster } from '../read-cluster.ts'
import { readRke1 } from './read-rke1.ts'
import { formatKeyReport } from './rule.ts'

/** Formats the report of a file as lines that begin with the verdict on the key. */
function formatReport(text: string): string[] {
  return readRke1({ file: 'rke.yml', text }).report.map(
    (key) => `${key.verdict}: ${formatKeyReport(key).replace(/^rke\.yml:/, '')}`,
  )
}

/** Returns the converted file as YAML, and checks that hyperkube reads it without findings. */
function written(text: string): string {
  const { cluster } = readRke1({ file: 'rke.yml', text })
  const result = stringify(cluster)
  expect(readCluster({ file: 'cluster.yml', text: result }).findings).toEqual([])
  return result
}

const minimal = `nodes:
  - address: 192.168.1.11
    user: root
    role: [controlplane, etcd, worker]
`

test('a minimal RKE1 file becomes a cluster with the defaults of RKE1 written out', () => {
  expect(formatReport(minimal)).toMatchInlineSnapshot(`
    [
      "mapped: 2:5 nodes[0].address -> spec.hosts[0].address",
      "mapped: 3:5 nodes[0].user -> spec.hosts[0].ssh.user",
      "mapped: 4:5 nodes[0].role -> spec.hosts[0].roles",
    ]
  `)
  expect(written(minimal)).toMatchInlineSnapshot(`
    "apiVersion: hyperkube.dev/v1
    kind: Cluster
    metadata:
      name: local
    spec:
      kubernetes: 1.37.1
      hosts:
        - name: cp1
          address: 192.168.1.11
          nodeName: 192.168.1.11
          roles:
            - control-plane
            - etcd
            - worker
          ssh:
            user: root
      ssh:
        key: ~/.ssh/id_rsa
      network:
        plugin: flannel
        pods: 10.42.0.0/16
        services: 10.43.0.0/16
        flannel:
          vni: 1
          port: 8472
      security:
        podSecurity: privileged
      storage: none
    "
  `)
  const { findings } = readRke1({ file: 'rke.yml', text: minimal })
  expect(findings.map(({ code, severity }) => `${severity} ${code}`)).toEqual(['warning RKE1_NETWORK_POLICY'])
})

const large = `cluster_name: Shop Floor
kubernetes_version: v1.32.13-rancher1-1
ssh_key_path: ~/.ssh/shop
ssh_agent_auth: false
ssh_cert_path: ""
enable_cri_dockerd: true
ignore_docker_version: false
addon_job_timeout: 90
prefix_path: /opt/shop
nodes:
  - address: 203.0.113.11
    port: "2222"
    internal_address: 10.1.0.11
    hostname_override: Alpha
    role: [controlplane, etcd]
    user: ops
    ssh_key_path: ~/.ssh/alpha
    docker_socket: /var/run/docker.sock
    labels: { rack: r1, "example.org/tier": "1" }
    taints:
      - { key: dedicated, value: control, effect: NoSchedule }
  - address: beta.shop.example
    hostname_override: beta.shop.example
    role: [etcd]
    user: ops
    ssh_key: |
      TOP-SECRET-KEY
  - address: 203.0.113.13
    hostname_override: cp1
    role: [controlplane, etcd]
    user: ops
  - address: 203.0.113.21
    role: [worker]
    user: ops
    labels: { "kubernetes.io/os": linux }
bastion_host:
  address: jump.shop.example
  user: hop
  port: 2200
  ssh_key_path: ~/.ssh/hop
  ignore_proxy_env_vars: true
services:
  etcd:
    extra_args: { quota-backend-bytes: 4294967296 }
    backup_config:
      interval_hours: 6
      s3backupconfig: { access_key: TOP-SECRET-ACCESS, secret_key: TOP-SECRET-SECRET }
    snapshot: false
    uid: 52034
  kube-api:
    service_cluster_ip_range: 10.53.0.0/16
    service_node_port_range: 30000-31000
    pod_security_configuration: restricted
    always_pull_images: true
    audit_log:
      enabled: true
      configuration: { max_age: 7, path: /var/log/audit.json, policy: { rules: [] } }
    secrets_encryption_config: { enabled: true }
    extra_args:
      audit-log-maxage: "14"
      oidc-issuer-url: https://id.example.com
      oidc-client-id: shop
      oidc-ca-file: /etc/kubernetes/oidc.pem
    extra_binds: ["/srv:/srv"]
  kube-controller:
    cluster_cidr: 10.52.0.0/16
    service_cluster_ip_range: 10.53.0.0/16
    extra_args: { node-cidr-mask-size: "25" }
  scheduler:
    image: shop/scheduler
    extra_args: { v: 4 }
  kubelet:
    cluster_domain: shop.local
    cluster_dns_server: 10.53.0.10
    fail_swap_on: false
    extra_args: { max-pods: "100", network-plugin: cni }
    extra_env: [A=B]
  kubeproxy:
    extra_args: { proxy-mode: ipvs, v: 2 }
    extra_args_array: { a: [b, c] }
network:
  plugin: canal
  mtu: 1400
  options:
    canal_iface: eth1
    canal_flannel_backend_type: vxlan
    canal_flannel_backend_port: "8473"
    flannel_backend_vni: 77
  tolerations: [{ key: x }]
authentication:
  strategy: x509
  sans: [api.shop.example, 203.0.113.10, "*.shop.example"]
authorization: { mode: rbac }
private_registries:
  - url: registry.shop.example
    user: puller
    password: TOP-SECRET-PASSWORD
    is_default: true
  - ecr_credential_plugin: { aws_secret_access_key: TOP-SECRET-AWS }
cloud_provider: { name: external-aws }
ingress: { provider: nginx }
dns: { provider: coredns }
monitoring: { provider: none }
addons: |
  kind: Namespace
addons_include: [https://shop.example/addon.yml]
system_images: { etcd: shop/etcd }
upgrade_strategy:
  max_unavailable_worker: "2"
  max_unavailable_controlplane: "1"
  drain: true
restore: { restore: false }
kubernets_version: v1.20.0
colour: blue
`

test('every key of a large RKE1 file is reported', () => {
  expect(formatReport(large)).toMatchInlineSnapshot(`
    [
      "mapped: 1:1 cluster_name -> metadata.name (converted to a DNS label)",
      "mapped: 2:1 kubernetes_version -> spec.kubernetes (without the suffix of RKE1)",
      "mapped: 3:1 ssh_key_path -> spec.ssh.key",
      "dropped: 4:1 ssh_agent_auth -> hyperkube uses the ssh agent if no key is set",
      "dropped: 5:1 ssh_cert_path -> is empty",
      "dropped: 6:1 enable_cri_dockerd -> hyperkube runs containerd, without Docker",
      "dropped: 7:1 ignore_docker_version -> hyperkube runs containerd, without Docker",
      "dropped: 8:1 addon_job_timeout -> hyperkube has no addon jobs",
      "dropped: 9:1 prefix_path -> hyperkube uses its own paths on a host",
      "mapped: 11:5 nodes[0].address -> spec.hosts[0].address",
      "mapped: 12:5 nodes[0].port -> spec.hosts[0].ssh.port",
      "mapped: 13:5 nodes[0].internal_address -> spec.hosts[0].internalAddress",
      "mapped: 14:5 nodes[0].hostname_override -> spec.hosts[0].name",
      "mapped: 15:5 nodes[0].role -> spec.hosts[0].roles",
      "mapped: 16:5 nodes[0].user -> spec.hosts[0].ssh.user",
      "mapped: 17:5 nodes[0].ssh_key_path -> spec.hosts[0].ssh.key",
      "dropped: 18:5 nodes[0].docker_socket -> hyperkube runs containerd, without Docker",
      "mapped: 19:15 nodes[0].labels.rack -> spec.hosts[0].labels.rack",
      "mapped: 19:25 nodes[0].labels.example.org/tier -> spec.hosts[0].labels.example.org/tier",
      "mapped: 21:9 nodes[0].taints[0] -> spec.hosts[0].taints[0]",
      "mapped: 22:5 nodes[1].address -> spec.hosts[1].address",
      "mapped: 23:5 nodes[1].hostname_override -> spec.hosts[1].nodeName",
      "mapped: 24:5 nodes[1].role -> spec.hosts[1].roles",
      "mapped: 25:5 nodes[1].user -> spec.hosts[1].ssh.user",
      "unsupported: 26:5 nodes[1].ssh_key -> keys are never copied; save it as a file and set its path in ssh.key",
      "mapped: 28:5 nodes[2].address -> spec.hosts[2].address",
      "mapped: 29:5 nodes[2].hostname_override -> spec.hosts[2].name",
      "mapped: 30:5 nodes[2].role -> spec.hosts[2].roles",
      "mapped: 31:5 nodes[2].user -> spec.hosts[2].ssh.user",
      "mapped: 32:5 nodes[3].address -> spec.hosts[3].address",
      "mapped: 33:5 nodes[3].role -> spec.hosts[3].roles",
      "mapped: 34:5 nodes[3].user -> spec.hosts[3].ssh.user",
      "dropped: 35:15 nodes[3].labels.kubernetes.io/os -> the kubelet sets it by itself",
      "mapped: 37:3 bastion_host.address -> spec.ssh.bastion.address",
      "mapped: 38:3 bastion_host.user -> spec.ssh.bastion.user",
      "mapped: 39:3 bastion_host.port -> spec.ssh.bastion.port",
      "mapped: 40:3 bastion_host.ssh_key_path -> spec.ssh.bastion.key",
      "dropped: 41:3 bastion_host.ignore_proxy_env_vars -> proxy variables of your shell are not used for ssh",
      "mapped: 44:19 services.etcd.extra_args.quota-backend-bytes -> spec.components.etcd.args.quota-backend-bytes",
      "unsupported: 45:5 services.etcd.backup_config -> not converted; set spec.etcd.snapshots and spec.etcd.backup, and keep keys out of cluster.yml",
      "dropped: 48:5 services.etcd.snapshot -> off in both",
      "dropped: 49:5 services.etcd.uid -> hyperkube sets the user of etcd",
      "mapped: 51:5 services.kube-api.service_cluster_ip_range -> spec.network.services",
      "mapped: 52:5 services.kube-api.service_node_port_range -> spec.network.nodePorts",
      "mapped: 53:5 services.kube-api.pod_security_configuration -> spec.security.podSecurity",
      "unsupported: 54:5 services.kube-api.always_pull_images -> add AlwaysPullImages to components.apiServer.args.enable-admission-plugins",
      "dropped: 56:7 services.kube-api.audit_log.enabled -> auditing is always on",
      "mapped: 57:24 services.kube-api.audit_log.configuration.max_age -> spec.security.audit.maxAge",
      "dropped: 57:36 services.kube-api.audit_log.configuration.path -> hyperkube uses its own paths on a host",
      "unsupported: 57:63 services.kube-api.audit_log.configuration.policy -> save it as a file next to cluster.yml and set its path in security.audit.policy",
      "unsupported: 58:5 services.kube-api.secrets_encryption_config -> keys are never copied; before you migrate, disable the encryption and rewrite all Secrets",
      "mapped: 60:7 services.kube-api.extra_args.audit-log-maxage -> spec.components.apiServer.args.audit-log-maxage",
      "mapped: 61:7 services.kube-api.extra_args.oidc-issuer-url -> spec.components.apiServer.args.oidc-issuer-url",
      "mapped: 62:7 services.kube-api.extra_args.oidc-client-id -> spec.components.apiServer.args.oidc-client-id",
      "mapped: 63:7 services.kube-api.extra_args.oidc-ca-file -> spec.components.apiServer.args.oidc-ca-file (copy /etc/kubernetes/oidc.pem of an RKE1 host into the directory of cluster.yml)",
      "dropped: 64:5 services.kube-api.extra_binds -> components run on the host and can read its files",
      "mapped: 66:5 services.kube-controller.cluster_cidr -> spec.network.pods",
      "dropped: 67:5 services.kube-controller.service_cluster_ip_range -> follows from spec.network.services",
      "mapped: 68:19 services.kube-controller.extra_args.node-cidr-mask-size -> spec.network.nodePrefix",
      "dropped: 70:5 services.scheduler.image -> RKE1 itself ignored it",
      "mapped: 71:19 services.scheduler.extra_args.v -> spec.components.scheduler.args.v",
      "mapped: 73:5 services.kubelet.cluster_domain -> spec.network.domain",
      "dropped: 74:5 services.kubelet.cluster_dns_server -> follows from spec.network.services",
      "mapped: 75:5 services.kubelet.fail_swap_on -> spec.components.kubelet.config.failSwapOn",
      "mapped: 76:19 services.kubelet.extra_args.max-pods -> spec.components.kubelet.maxPods",
      "dropped: 76:36 services.kubelet.extra_args.network-plugin -> hyperkube runs containerd and configures the kubelet for it",
      "unsupported: 77:5 services.kubelet.extra_env -> components have no custom environment; use a flag instead",
      "unsupported: 79:19 services.kubeproxy.extra_args.proxy-mode -> hyperkube chooses nftables or iptables; to set one: components.kubeProxy.mode",
      "mapped: 79:37 services.kubeproxy.extra_args.v -> spec.components.kubeProxy.args.v",
      "unsupported: 80:5 services.kubeproxy.extra_args_array -> a flag has one value; if it takes a list, join the values in components.kubeProxy.args",
      "unsupported: 82:3 network.plugin -> replaced by flannel and kube-router, which enforces NetworkPolicy but no policies of other plugins; for your own plugin set network.plugin to none",
      "mapped: 83:3 network.mtu -> spec.network.flannel.mtu",
      "mapped: 85:5 network.options.canal_iface -> spec.hosts[].interface",
      "mapped: 86:5 network.options.canal_flannel_backend_type -> spec.network.flannel.backend",
      "mapped: 87:5 network.options.canal_flannel_backend_port -> spec.network.flannel.port",
      "dropped: 88:5 network.options.flannel_backend_vni -> ignored without the plugin flannel",
      "dropped: 89:3 network.tolerations -> flannel runs as a service on every host, not as pods",
      "dropped: 91:3 authentication.strategy -> certificates are always accepted",
      "mapped: 92:10 authentication.sans[0] -> spec.api.sans",
      "mapped: 92:28 authentication.sans[1] -> spec.api.sans",
      "unsupported: 92:42 authentication.sans[2] -> must be an IP address or a host name; write it by hand",
      "dropped: 93:18 authorization.mode -> RBAC is always on",
      "mapped: 95:5 private_registries[0].url -> spec.registries[0].host",
      "mapped: 96:5 private_registries[0].user -> spec.registries[0].username",
      "unsupported: 97:5 private_registries[0].password -> passwords are never copied; change it, then store it: hyperkube secret set registry-shop-example",
      "unsupported: 98:5 private_registries[0].is_default -> Kubernetes binaries come from spec.artifacts; set a mirror there",
      "unsupported: 99:5 private_registries[1].ecr_credential_plugin -> credential plugins are not supported yet; use components.kubelet.args, and keep keys out of cluster.yml",
      "mapped: 100:19 cloud_provider.name -> spec.cloudProvider (install its cloud controller manager yourself)",
      "mapped: 101:12 ingress.provider -> spec.ingress (Traefik replaces nginx: set ingress.nginxAnnotations, or change the class of Ingresses)",
      "mapped: 102:8 dns.provider -> spec.dns",
      "mapped: 103:15 monitoring.provider -> spec.metrics",
      "mapped: 104:1 addons -> spec.addons",
      "unsupported: 106:18 addons_include[0] -> a URL needs its digest: addons: [{ name: …, urls: [{ url: …, sha256: … }] }]",
      "dropped: 107:1 system_images -> depends on the version of Kubernetes",
      "mapped: 109:3 upgrade_strategy.max_unavailable_worker -> spec.rollout.maxUnavailable",
      "dropped: 110:3 upgrade_strategy.max_unavailable_controlplane -> control planes are always changed one by one",
      "unsupported: 111:3 upgrade_strategy.drain -> drain settings are not supported yet",
      "dropped: 112:1 restore -> requests a one-time action of RKE1; not a setting",
      "unknown: 113:1 kubernets_version -> RKE1 has no such key and ignored it; did you mean kubernetes_version?",
      "unknown: 114:1 colour -> RKE1 has no such key and ignored it",
    ]
  `)
})

test('a large RKE1 file becomes a valid cluster without secrets', () => {
  expect(written(large)).toMatchInlineSnapshot(`
    "apiVersion: hyperkube.dev/v1
    kind: Cluster
    metadata:
      name: shop-floor
    spec:
      kubernetes: 1.32.13
      hosts:
        - name: alpha
          address: 203.0.113.11
          internalAddress: 10.1.0.11
          roles:
            - control-plane
            - etcd
          ssh:
            port: 2222
            user: ops
            key: ~/.ssh/alpha
          labels:
            rack: r1
            example.org/tier: "1"
          taints:
            - key: dedicated
              value: control
              effect: NoSchedule
        - name: etcd1
          address: beta.shop.example
          nodeName: beta.shop.example
          roles:
            - etcd
          ssh:
            user: ops
          interface: eth1
        - name: cp1
          address: 203.0.113.13
          roles:
            - control-plane
            - etcd
          ssh:
            user: ops
          interface: eth1
        - name: w1
          address: 203.0.113.21
          nodeName: 203.0.113.21
          roles:
            - worker
          ssh:
            user: ops
          interface: eth1
      ssh:
        key: ~/.ssh/shop
        bastion:
          address: jump.shop.example
          user: hop
          port: 2200
          key: ~/.ssh/hop
      network:
        plugin: flannel
        pods: 10.52.0.0/16
        services: 10.53.0.0/16
        flannel:
          vni: 1
          port: 8473
          mtu: 1400
          backend: vxlan
        nodePorts: 30000-31000
        nodePrefix: 25
        domain: shop.local
      api:
        sans:
          - api.shop.example
          - 203.0.113.10
      components:
        etcd:
          args:
            quota-backend-bytes: "4294967296"
        apiServer:
          args:
            audit-log-maxage: "14"
            oidc-issuer-url: https://id.example.com
            oidc-client-id: shop
            oidc-ca-file: oidc.pem
        scheduler:
          args:
            v: "4"
        kubelet:
          config:
            failSwapOn: false
          maxPods: 100
        kubeProxy:
          args:
            v: "2"
      security:
        podSecurity: restricted
        audit:
          maxAge: 7
      metrics: none
      storage: none
      registries:
        - host: registry.shop.example
          username: puller
          password:
            secret: registry-shop-example
        - host: docker.io
      cloudProvider: external
      addons:
        - name: rke-addons
          inline: |
            kind: Namespace
      rollout:
        maxUnavailable: 2
    "
  `)
  expect(JSON.stringify(readRke1({ file: 'rke.yml', text: large }))).not.toContain('TOP-SECRET')
})

test('with a Windows host the flannel VNI is set to the value that Windows needs', () => {
  const text = `${minimal}  - address: 192.168.1.31
    user: admin
    role: [worker]
    labels: { "kubernetes.io/os": windows }
network:
  plugin: flannel
  options: { flannel_backend_vni: 5000, flannel_backend_port: 4789 }
`
  expect(formatReport(text).filter((line) => /\/os|vni|port/.test(line))).toMatchInlineSnapshot(`
    [
      "mapped: 8:15 nodes[1].labels.kubernetes.io/os -> spec.hosts[1].os",
      "unsupported: 11:14 network.options.flannel_backend_vni -> replaced by 4096, which flannel needs with Windows hosts",
      "mapped: 11:41 network.options.flannel_backend_port -> spec.network.flannel.port",
    ]
  `)
  expect(written(text)).toContain('vni: 4096')
})

test.each([
  ['calico', 'flannel'],
  ['weave', 'flannel'],
  ['none', 'none'],
])('network plugin %s becomes %s without vxlan settings', (plugin, ours) => {
  const text = written(`${minimal}network: { plugin: ${plugin} }\n`)
  expect(text).toContain(`plugin: ${ours}`)
  expect(text).not.toContain('vni')
})

test('of dual-stack networks only the IPv4 network is kept', () => {
  const text = `${minimal}services:
  kube-controller: { cluster_cidr: "10.9.0.0/16,fd00:9::/56" }
  kube-api: { service_cluster_ip_range: "fd00:8::/112" }
`
  expect(formatReport(text).slice(3)).toMatchInlineSnapshot(`
    [
      "unsupported: 6:22 services.kube-controller.cluster_cidr -> dual-stack is not converted: only the IPv4 network is kept",
      "unsupported: 7:15 services.kube-api.service_cluster_ip_range -> an IPv4 network is required; replaced by the default of RKE1",
    ]
  `)
  expect(written(text)).toContain('pods: 10.9.0.0/16\n    services: 10.43.0.0/16\n')
})

test('YAML anchors are resolved, and merge keys are reported as unsupported', () => {
  const text = `nodes:
  - &first
    address: 192.168.1.11
    user: &user root
    role: [controlplane, etcd]
  - <<: *first
    address: 192.168.1.12
    user: *user
    role: [worker]
`
  expect(formatReport(text).slice(3)).toMatchInlineSnapshot(`
    [
      "unsupported: 6:5 nodes[1].<< -> YAML merge keys are not supported; write out the merged values, then run the same command again",
      "mapped: 7:5 nodes[1].address -> spec.hosts[1].address",
      "mapped: 8:5 nodes[1].user -> spec.hosts[1].ssh.user",
      "mapped: 9:5 nodes[1].role -> spec.hosts[1].roles",
    ]
  `)
  expect(written(text)).toContain('user: root')
})

test.each([
  ['an empty file', ''],
  ['plain text', 'hello'],
  ['a list', '- a\n'],
  ['an empty map', '{}\n'],
  ['broken YAML', 'nodes: [\n'],
  ['a duplicate key', `${minimal}nodes: []\n`],
  ['a file whose nodes are text', 'nodes: hello\nservices: 3\nnetwork: []\n'],
  ['an empty list of nodes', 'nodes: []\n'],
])('%s gives findings and no cluster', (_what, text) => {
  const { cluster, findings } = readRke1({ file: 'rke.yml', text })
  expect(cluster).toBeUndefined()
  expect(findings.length).toBeGreaterThan(0)
})

test('values of a wrong type are reported with their positions', () => {
  const text = `nodes: [hello, { address: [1], role: worker, port: x, labels: [a], taints: { a: b } }]
cluster_name: [a]
kubernetes_version: 1.3
services: { etcd: 1, kubelet: { extra_args: { Bad_Flag: 1, v: null, x: [1] } } }
network: { plugin: [a], mtu: big, options: text }
authentication: { sans: a, strategy: {} }
private_registries: { url: a }
upgrade_strategy: { max_unavailable_worker: 0 }
bastion_host: [a]
cloud_provider: { name: 3 }
__proto__: { a: 1 }
"": 1
"two\\nlines": 1
`
  expect(formatReport(text)).toMatchInlineSnapshot(`
    [
      "unsupported: 1:9 nodes[0] -> must be a map, for RKE1 too; write it by hand",
      "unsupported: 1:18 nodes[1].address -> must be text; write it by hand",
      "unsupported: 1:32 nodes[1].role -> must be a list of roles; write it by hand",
      "unsupported: 1:46 nodes[1].port -> must be a port number; write it by hand",
      "unsupported: 1:55 nodes[1].labels -> must be a map, for RKE1 too; write it by hand",
      "unsupported: 1:68 nodes[1].taints -> must be a list, for RKE1 too; write it by hand",
      "unsupported: 2:1 cluster_name -> must be text; write it by hand",
      "unsupported: 3:1 kubernetes_version -> hyperkube starts at 1.32: replaced by 1.37.1; first prepare workloads for this version",
      "unsupported: 4:13 services.etcd -> must be a map, for RKE1 too; write it by hand",
      "unsupported: 4:47 services.kubelet.extra_args.Bad_Flag -> is not a valid flag name; write it by hand",
      "unsupported: 4:60 services.kubelet.extra_args.v -> must be text; write it by hand",
      "unsupported: 4:69 services.kubelet.extra_args.x -> must be text; write it by hand",
      "unsupported: 5:12 network.plugin -> replaced by flannel and kube-router, which enforces NetworkPolicy but no policies of other plugins; for your own plugin set network.plugin to none",
      "unsupported: 5:25 network.mtu -> must be a whole number; write it by hand",
      "unsupported: 5:35 network.options -> must be a map, for RKE1 too; write it by hand",
      "unsupported: 6:19 authentication.sans -> must be a list, for RKE1 too; write it by hand",
      "dropped: 6:28 authentication.strategy -> is empty",
      "unsupported: 7:1 private_registries -> must be a list, for RKE1 too; write it by hand",
      "unsupported: 8:21 upgrade_strategy.max_unavailable_worker -> must be a number or a percentage, and at least 1; write it by hand",
      "unsupported: 9:1 bastion_host -> must be a map, for RKE1 too; write it by hand",
      "unsupported: 10:19 cloud_provider.name -> Kubernetes has no in-tree cloud providers any more; install the external cloud controller manager",
      "unknown: 11:1 __proto__ -> RKE1 has no such key and ignored it",
      "unknown: 12:1  -> RKE1 has no such key and ignored it",
      "unknown: 13:1 two␤lines -> RKE1 has no such key and ignored it",
    ]
  `)
})

test('addon settings with an equivalent are converted, others are reported as unsupported', () => {
  const text = `${minimal}
ingress:
  provider: nginx
  http_port: 8080
  default_ingress_class: false
  node_selector: { edge: "true", password: TOP-SECRET }
  options: { use-forwarded-headers: "true" }
dns:
  provider: kube-dns
  upstreamnameservers: [192.0.2.53, 192.0.2.54]
  stubdomains: { corp.example: [192.0.2.55] }
monitoring: { provider: metrics-server, replicas: 2 }
addons: |-
  apiVersion: v1
  kind: Namespace
  metadata: { name: shop }
addons_include: [https://shop.example/addon.yml, manifests/shop.yml]
`
  expect(formatReport(text).filter((line) => /ingress|dns|monitoring|addons/.test(line)))
    .toMatchInlineSnapshot(`
    [
      "mapped: 7:3 ingress.provider -> spec.ingress (Traefik replaces nginx: set ingress.nginxAnnotations, or change the class of Ingresses)",
      "mapped: 8:3 ingress.http_port -> spec.ingress.httpPort",
      "mapped: 9:3 ingress.default_ingress_class -> spec.ingress.defaultClass",
      "mapped: 10:20 ingress.node_selector.edge -> spec.ingress.nodeSelector.edge",
      "unsupported: 10:34 ingress.node_selector.password -> looks like a secret; do not store secrets in labels",
      "unsupported: 11:3 ingress.options -> is for nginx; check whether Traefik needs an equivalent",
      "mapped: 13:3 dns.provider -> spec.dns (CoreDNS replaces kube-dns)",
      "mapped: 14:25 dns.upstreamnameservers[0] -> spec.dns.forward",
      "mapped: 14:37 dns.upstreamnameservers[1] -> spec.dns.forward",
      "unsupported: 15:3 dns.stubdomains -> use a patch for the object",
      "mapped: 16:15 monitoring.provider -> spec.metrics",
      "mapped: 16:41 monitoring.replicas -> spec.metrics.replicas",
      "mapped: 17:1 addons -> spec.addons",
      "unsupported: 21:18 addons_include[0] -> a URL needs its digest: addons: [{ name: …, urls: [{ url: …, sha256: … }] }]",
      "mapped: 21:50 addons_include[1] -> spec.addons (the path is relative to the new cluster.yml)",
    ]
  `)
  const { cluster } = readRke1({ file: 'rke.yml', text })
  expect(stringify(cluster)).not.toContain('TOP-SECRET')
  expect(Object(cluster)['spec']).toMatchObject({
    dns: { forward: ['192.0.2.53', '192.0.2.54'] },
    metrics: { replicas: 2 },
    ingress: { httpPort: 8080, defaultClass: false, nodeSelector: { edge: 'true' } },
    storage: 'none',
    addons: [{ name: 'rke-addons' }, { name: 'rke-addons-include', files: ['manifests/shop.yml'] }],
  })
  expect(readCluster({ file: 'cluster.yml', text: stringify(cluster) }).findings).toEqual([])
})

test('a disabled addon stays disabled although it has other settings', () => {
  const text = `${minimal}
ingress: { http_port: 8080, provider: none, https_port: 8443 }
dns: { provider: none }
`
  expect(Object(readRke1({ file: 'rke.yml', text }).cluster)['spec']).toMatchObject({
    ingress: 'none',
    dns: 'none',
  })
})

test('an inline Secret manifest is not copied', () => {
  const text = `${minimal}
addons: |
  apiVersion: v1
  kind: Secret
  metadata: { name: shop }
  stringData: { password: TOP-SECRET }
`
  const { cluster, report } = readRke1({ file: 'rke.yml', text })
  expect(JSON.stringify({ cluster, report })).not.toContain('TOP-SECRET')
  expect(formatReport(text).at(-1)).toContain('unsupported')
})
