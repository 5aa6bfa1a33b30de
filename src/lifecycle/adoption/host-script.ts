/** Paths whose existence is reported. They show other tools, custom paths and the keys of CAs. */
export const checkedPaths = [
  '/opt/hyperkube',
  '/var/lib/hyperkube',
  '/etc/rancher/k3s',
  '/etc/rancher/rke2',
  '/var/lib/rancher/k3s',
  '/var/lib/rancher/rke2',
  '/etc/kubernetes/manifests',
  '/etc/kubernetes/admin.conf',
  '/etc/kubernetes/pki/ca.key',
  '/etc/kubernetes/pki/front-proxy-ca.key',
  '/etc/kubernetes/pki/etcd/ca.key',
  '/etc/kubernetes/pki/sa.key',
  '/etc/kubernetes/ssl/kube-ca-key.pem',
  '/etc/kubernetes/ssl/kube-apiserver-requestheader-ca-key.pem',
  '/etc/kubernetes/ssl/kube-service-account-token-key.pem',
  '/var/lib/etcd/member',
  '/var/lib/kubelet/config.yaml',
] as const

/**
 * Paths that must be no symbolic links. Agents never follow a link to write a directory, and the sandbox of etcd
 * permits no other directory.
 */
export const checkedLinks = [
  '/var/lib/etcd',
  '/var/lib/etcd/member',
  '/var/lib/etcd/member/snap',
  '/var/lib/etcd/member/wal',
  '/var/lib/kubelet',
  '/etc/cni/net.d',
  '/opt/cni/bin',
] as const

/**
 * Components that run as static pods or as containers of RKE1. Of other containers only the names are read, because
 * they may have passwords in their arguments.
 */
export const componentNames: readonly string[] = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubelet',
  'kube-proxy',
]

/** Programs with which a kubelet mounts volumes. The image of RKE1's kubelet has them, and hosts may not. */
const mountPrograms = ['mount.nfs', 'mount.cifs', 'iscsiadm', 'mkfs.xfs']

/**
 * Functions that print the configuration of the running containerd. Flags of its process may name another file or data
 * directory, and `config dump` shows only what the file says.
 */
export const containerdScript = `
containerd_flag() { command_line containerd.service | sed -n -e "s/^--*\\($1\\)=//p" -e "/^--*\\($1\\)$/{n;p;}" | tail -n 1; }
containerd_dump() { file=$(containerd_flag 'config\\|c'); containerd \${file:+--config "$file"} config dump; }
containerd_settings() { containerd_dump | sed -n -e '/^ *\\[/p' -e '/^ *\\(default_runtime_name\\|bin_dirs\\{0,1\\}\\|SystemdCgroup\\) = /p'; }
registry_hosts() {
  containerd_dump | sed -n "s/^ *config_path = [\\"']\\(.*\\)[\\"']$/\\1/p" | tr ':' '\\n' |
    while read -r directory; do test -z "$directory" || ls -d "$directory"/*/; done
}
containerd_root() {
  directory=$(containerd_flag root)
  if test -n "$directory"; then echo "root = '$directory'"; else containerd_dump | sed -n '/^root = /p'; fi
}`

/**
 * Script that prints the state of a host and changes nothing. It prints no private keys: certificates and
 * kubeconfigs are filtered on the host. Of containerd's configuration it prints the names of tables, because values
 * may be passwords of registries. Each section has a header line and a base64 text.
 */
export const hostScript = `
export LC_ALL=C PATH="$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
output() { printf '=== output %s\\n' "$1"; shift; "$@" 2>/dev/null </dev/null | base64; }
files() { for file in "$@"; do test -f "$file" || continue; printf '=== file %s\\n' "$file"; base64 <"$file"; done; }
certificates() {
  for file in "$@"; do
    test -f "$file" || continue
    printf '=== certificates %s\\n' "$file"
    sed -n '/-BEGIN CERTIFICATE-/,/-END CERTIFICATE-/p' "$file" | base64
  done
}
kubeconfigs() {
  for file in "$@"; do
    test -f "$file" || continue
    printf '=== kubeconfig %s\\n' "$file"
    sed -n -e '/^ *server: /p' -e '/^ *client-certificate-data: /p' "$file" | base64
  done
}
existing() { for path in "$@"; do test ! -e "$path" || echo "$path"; done; }
links() { for path in "$@"; do test ! -L "$path" || echo "$path"; done; }
command_line() { pid=$(systemctl show --property=MainPID --value "$1"); test "$pid" -gt 0 && tr '\\0' '\\n' <"/proc/$pid/cmdline"; }
drop_ins() { systemctl show --property=DropInPaths --value containerd.service kubelet.service docker.service | tr ' ' '\\n'; }
${containerdScript}
docker_settings() {
  docker info --format '{{if or .HTTPProxy .HTTPSProxy}}an HTTP proxy{{end}}{{range .RegistryConfig.Mirrors}}\nthe mirror of a registry{{end}}{{range $name, $index := .RegistryConfig.IndexConfigs}}{{if not $index.Secure}}\nthe insecure registry {{$name}}{{end}}{{end}}{{if ne .DefaultRuntime "runc"}}\nthe default runtime {{.DefaultRuntime}}{{end}}{{if not (or (eq .LoggingDriver "json-file") (eq .LoggingDriver "local"))}}\nthe log driver {{.LoggingDriver}}{{end}}'
  for path in /etc/docker/certs.d/*/; do test ! -d "$path" || echo "the CA of the registry $(basename "$path")"; done
}
missing_programs() { for name in ${mountPrograms.join(' ')}; do command -v "$name" >/dev/null || echo "$name"; done; }
output hostname hostname
output machine-id cat /etc/machine-id
output arch uname -m
output os-release cat /etc/os-release
output cgroup stat -fc %T /sys/fs/cgroup
output addresses ip -o address show scope global
output vxlan ip -d -o link show type vxlan
output services systemctl list-units --type=service --state=active --plain --no-legend --no-pager
output kubelet command_line kubelet.service
output containerd containerd --version
output containerd-root containerd_root
output containerd-settings containerd_settings
output registry-hosts registry_hosts
output drop-ins drop_ins
output docker docker version --format '{{.Server.Version}}'
output docker-settings docker_settings
output missing-programs missing_programs
output containers docker inspect --format '{{json .Name}} {{json .Args}} {{json .Mounts}} {{json .Config.Image}} {{json .State.Running}}' ${componentNames.join(' ')}
output docker-containers docker ps --format '{{.Names}} {{.Label "io.kubernetes.docker.type"}}'
output paths existing ${checkedPaths.join(' ')}
output public-keys grep -c -e '-BEGIN PUBLIC KEY-' /etc/kubernetes/pki/sa.pub
output links links ${checkedLinks.join(' ')}
files /etc/kubernetes/manifests/*
files /var/lib/kubelet/config.yaml /etc/cni/net.d/*.conf /etc/cni/net.d/*.conflist /etc/cni/net.d/*.json
certificates /etc/kubernetes/pki/*.crt /etc/kubernetes/pki/etcd/*.crt /etc/kubernetes/ssl/*.pem /var/lib/kubelet/pki/kubelet-client-current.pem
kubeconfigs /etc/kubernetes/*.conf
exit 0
`

/** Sections of the script's output: texts by kind and name. */
export interface HostSections {
  output(name: string): string
  /** All sections of a kind, in the order of the output. */
  list(kind: 'file' | 'certificates' | 'kubeconfig'): readonly HostSection[]
}

export interface HostSection {
  readonly name: string
  readonly text: string
}

/** Parses the output of the script. Lines before the first header are ignored, because shells may print some. */
export function parseHostSections(text: string): HostSections {
  const parts = text.split(/^=== /m).slice(1)
  const sections = parts.map((part) => {
    const [head = '', ...body] = part.split('\n')
    const space = head.indexOf(' ')
    const decoded = Buffer.from(body.join(''), 'base64').toString('utf8')
    return { kind: head.slice(0, space), name: head.slice(space + 1), text: decoded }
  })
  return {
    output: (name) => sections.find((one) => one.kind === 'output' && one.name === name)?.text ?? '',
    list: (kind) => sections.filter((one) => one.kind === kind),
  }
}

/** Splits the output of a command into its lines, without empty ones. */
export function splitLines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '')
}
