import { win32 } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { ComponentPlan } from '../../contract/component-plan.ts'
import { hasErrors } from '../../contract/finding.ts'
import { type NodePlan, nodePlanFormat } from '../../contract/node-plan.ts'
import { buildServiceCommand, type ScmServiceSpec } from '../../contract/service.ts'
import { parseTestCluster, buildPlanInput } from '../testing/fixtures.ts'
import { planCluster } from '../plan.ts'

const mixed = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: mixed }
spec:
  kubernetes: 1.37.1
  hosts:
    - { name: cp1, address: 192.168.1.11, roles: [control-plane] }
    - { name: w1, address: 192.168.1.21, roles: [worker] }
    - { name: nt2022, address: 192.168.1.31, roles: [worker], os: windows }
    - name: nt2025
      address: 192.168.1.32
      roles: [worker]
      os: windows
      labels: { example.com/disk: fast }
`

/** Windows builds by host name: Server 2022 and Server 2025. */
const builds: Readonly<Record<string, number>> = { nt2022: 20_348, nt2025: 26_100 }

const disks = ['C:\\', 'D:\\'].map((path) => ({ path, totalBytes: 2 ** 37, availableBytes: 2 ** 36 }))

function windowsPlans(text: string): NodePlan[] {
  const input = buildPlanInput(parseTestCluster(text), ({ name }) => ({
    windows: { build: builds[name] ?? 20_348, disks },
  }))
  const tags = new Map([...input.identity.tags, ['registry-login/registry.example.com:5000', 'tag']])
  const { plans, findings } = planCluster({ ...input, identity: { ...input.identity, tags } })
  expect(hasErrors(findings) ? findings : []).toEqual([])
  return plans.filter(({ os }) => os === 'windows')
}

function planOf(text: string): NodePlan {
  const [plan] = windowsPlans(text)
  if (plan === undefined) throw new Error('no plan')
  return plan
}

function find(plan: NodePlan, name: string): ComponentPlan {
  const found = plan.components.find((component) => component.name === name)
  if (found === undefined) throw new Error(`no ${name}`)
  return found
}

function serviceOf({ name, service }: ComponentPlan): ScmServiceSpec {
  if (service?.supervisor !== 'scm') throw new Error(`${name} is no service of Windows`)
  return service
}

function fileText({ files }: ComponentPlan, name: string): string {
  const content = files.find(({ path }) => win32.basename(path) === name)?.content
  if (content?.kind !== 'text') throw new Error(`no ${name}`)
  return content.text
}

/** Fills in a template as the agent does. */
function filledIn(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\$\{(\w+)(\|network)?\}/g, (_, name: string, network?: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`no value for ${name}`)
    return network === undefined ? value : value.replace(/\.\d+\//, '.0/')
  })
}

const subnet = {
  FLANNEL_NETWORK: '10.244.0.0/16',
  FLANNEL_SUBNET: '10.244.3.1/24',
  FLANNEL_MTU: '1450',
  FLANNEL_IPMASQ: 'true',
}

function texts({ files, derivedFiles }: ComponentPlan): (readonly [path: string, text: string])[] {
  return [
    ...files.flatMap(({ path, content }) => (content.kind === 'text' ? [[path, content.text] as const] : [])),
    ...derivedFiles.map(
      ({ path, template }) => [path, filledIn(template, { ...subnet, SOURCE_VIP: '10.244.3.2' })] as const,
    ),
  ]
}

describe('the plan of a Windows host', () => {
  const plans = windowsPlans(mixed)

  test('matches its schema on Server 2022 and 2025', () => {
    expect(plans.map(({ host }) => host)).toEqual(['nt2022', 'nt2025'])
    for (const plan of plans) expect(nodePlanFormat.newest.schema.parse(plan)).toEqual(plan)
  })

  test('contains the components of a worker in start order', () => {
    expect(planOf(mixed).components.map(({ stage, name }) => `${stage} ${name}`)).toEqual([
      'prepare host',
      'prepare hyperkube-agent',
      'node containerd',
      'node apiserver-proxy',
      'node kubelet',
      'network flanneld',
      'network kube-proxy',
    ])
  })

  test('contains the files that cluster.yml lists', () => {
    const text = mixed.replace('labels:', "files: [{ path: 'C:\\motd.txt', content: hello }]\n      labels:")
    const names = windowsPlans(text)[1]?.components.map(({ name }) => name)
    expect(names?.slice(0, 3)).toEqual(['host', 'extra-files', 'hyperkube-agent'])
  })

  test('starts only programs of its artifacts and depends only on its own services', () => {
    for (const { components } of plans) {
      const services = components.filter(({ service }) => service !== undefined)
      const names = new Set(services.map((component) => serviceOf(component).name))
      expect(names.size).toBe(services.length)
      for (const component of services) {
        const { program, dependsOn, runner } = serviceOf(component)
        const started = [program, ...(runner === undefined ? [] : [runner.program])]
        for (const one of started) {
          expect(component.artifacts.map(({ directory }) => directory)).toContain(win32.dirname(one))
          expect(one).toMatch(/\.exe$/)
        }
        expect(dependsOn.filter((other) => !names.has(other))).toEqual([])
        const programs = component.artifacts.flatMap((artifact) =>
          artifact.from === 'url' && artifact.unpack.kind === 'program'
            ? [win32.join(artifact.directory, artifact.unpack.as)]
            : [],
        )
        expect(programs.filter((one) => !started.includes(one))).toEqual([])
      }
    }
  })

  test('runs each service under the service control manager with log files of limited size', () => {
    const commands = planOf(mixed).components.flatMap((component) => {
      if (component.service === undefined) return []
      const { program, arguments: args } = buildServiceCommand(serviceOf(component))
      const end = component.name === 'containerd' ? args.length : args.indexOf(serviceOf(component).program)
      return [[component.name, win32.basename(program), ...args.slice(0, end + 1)].join(' ')]
    })
    expect(commands.map((command) => command.replaceAll('C:\\hyperkube\\', ''))).toMatchInlineSnapshot(`
      [
        "hyperkube-agent shawl.exe run --name=hyperkube-agent --restart --restart-delay=2000 --stop-timeout=30000 --pass=0,1,-1073741510 --log-dir=logs --log-as=hyperkube-agent-service --log-cmd-as=hyperkube-agent --log-rotate=bytes=10485760 --log-retain=5 -- programs\\hyperkube-0.1.0\\hyperkube.exe",
        "containerd containerd.exe --run-service --config=settings\\containerd\\config.toml --log-file=logs\\containerd.log",
        "apiserver-proxy shawl.exe run --name=apiserver-proxy --restart --restart-delay=2000 --stop-timeout=30000 --pass=0,1,-1073741510 --log-dir=logs --log-as=apiserver-proxy-service --log-cmd-as=apiserver-proxy --log-rotate=bytes=10485760 --log-retain=5 -- programs\\hyperkube-0.1.0\\hyperkube.exe",
        "kubelet kube-log-runner.exe -log-file=logs\\kubelet.log -log-file-size=10Mi -log-file-age=168h -flush-interval=5s programs\\kubelet-1.37.1\\kubelet.exe",
        "flanneld shawl.exe run --name=flanneld --restart --restart-delay=2000 --stop-timeout=30000 --pass=0,1,-1073741510 --log-dir=logs --log-as=flanneld-service --log-cmd-as=flanneld --log-rotate=bytes=10485760 --log-retain=5 -- programs\\flannel-0.28.7\\flanneld.exe",
        "kube-proxy kube-log-runner.exe -log-file=logs\\kube-proxy.log -log-file-size=10Mi -log-file-age=168h -flush-interval=5s programs\\kube-proxy-1.37.1\\kube-proxy.exe",
      ]
    `)
  })

  test('contains only valid Windows paths', () => {
    for (const { components } of plans) {
      const paths = components.flatMap(({ files, derivedFiles, directories, certificates, artifacts }) => [
        ...[...files, ...derivedFiles, ...directories].map(({ path }) => path),
        ...derivedFiles.map(({ from }) => from),
        ...certificates.flatMap(({ certificateFile, keyFile }) => [certificateFile, keyFile]),
        ...artifacts.map(({ directory }) => directory),
      ])
      for (const path of paths) expect(path).toMatch(/^[A-Z]:(\\[^\\/:*?"<>| ]+)+$/)
    }
  })

  test('contains no users, modules, sysctls or paths of Linux', () => {
    for (const { components } of plans) {
      for (const { users, modules, sysctls, files } of components) {
        expect({ users, modules, sysctls }).toEqual({ users: [], modules: [], sysctls: {} })
        for (const { content } of files) {
          expect(content.kind === 'text' ? content.text : '').not.toMatch(/(?<!\w)\/(etc|var|opt|run)\//)
        }
      }
    }
  })

  test('contains only files that can be parsed', () => {
    for (const component of plans.flatMap(({ components }) => components)) {
      for (const [path, text] of texts(component)) expect(() => read(path, text)).not.toThrow()
    }
  })

  test('creates every file that it refers to', () => {
    for (const component of plans.flatMap(({ components }) => components)) {
      expect(missingFiles(component)).toEqual([])
    }
  })

  test('gives other users no access to files and directories of hyperkube', () => {
    const ours = plans
      .flatMap(({ components }) => components)
      .flatMap(({ directories, files, derivedFiles }) => [...directories, ...files, ...derivedFiles])
      .filter(({ path }) => path.startsWith('C:\\hyperkube'))
    expect(ours.filter(({ mode }) => !mode.endsWith('00'))).toEqual([])
  })

  test('uses the baseDirectory of cluster.yml for all paths', () => {
    const text = JSON.stringify(windowsPlans(`${mixed}  windows: { baseDirectory: 'D:\\k8s\\node' }\n`))
    expect(text).toContain(String.raw`D:\\k8s\\node\\settings\\kubelet`)
    expect(text).not.toMatch(/C:(\\)+hyperkube/)
  })
})

describe('the kubelet of a Windows host', () => {
  const plan = planOf(mixed)
  const kubelet = find(plan, 'kubelet')
  const { arguments: args, ...service } = serviceOf(kubelet)
  const config: unknown = parse(fileText(kubelet, 'config.yaml'))

  test('is a native Windows service named kubelet', () => {
    expect(service).toMatchObject({ name: 'kubelet', native: true, dependsOn: ['containerd'] })
    expect(args).toContain('--windows-service=true')
    expect(args).toContain('--windows-priorityclass=ABOVE_NORMAL_PRIORITY_CLASS')
    expect(config).toMatchObject({ shutdownGracePeriod: '60s' })
  })

  test('gets no setting that it refuses or that only Linux supports', () => {
    expect(args.filter((arg) => arg.startsWith('--pod-infra-container-image'))).toEqual([])
    for (const setting of [
      'podPidsLimit',
      'seccompDefault',
      'protectKernelDefaults',
      'cgroupDriver',
      'failCgroupV1',
      'failSwapOn',
      'memorySwap',
      'singleProcessOOMKill',
      'userNamespaces',
    ]) {
      expect(config).not.toHaveProperty(setting)
    }
  })

  test('has the configuration that Windows needs', () => {
    expect(config).toMatchObject({
      authentication: {
        anonymous: { enabled: false },
        x509: { clientCAFile: String.raw`C:\hyperkube\settings\kubelet\ca.crt` },
      },
      containerRuntimeEndpoint: 'npipe:////./pipe/containerd-containerd',
      resolvConf: '',
      cgroupsPerQOS: false,
      enforceNodeAllocatable: [],
      hairpinMode: 'promiscuous-bridge',
      systemReserved: { memory: '2Gi' },
      registerWithTaints: [{ key: 'os', value: 'windows', effect: 'NoSchedule' }],
    })
  })

  test('uses systemReserved of cluster.yml', () => {
    const text = `${mixed}  components: { kubelet: { systemReserved: { cpu: 500m, memory: 3Gi } } }\n`
    const own: unknown = parse(fileText(find(planOf(text), 'kubelet'), 'config.yaml'))
    expect(own).toMatchObject({ systemReserved: { cpu: '500m', memory: '3Gi' } })
  })
})

describe('containerd on a Windows host', () => {
  test('is a native Windows service with paths of hyperkube in its configuration', () => {
    const containerd = find(planOf(mixed), 'containerd')
    expect(serviceOf(containerd)).toMatchObject({ native: true, environment: {} })
    expect(serviceOf(containerd).arguments).toMatchInlineSnapshot(`
      [
        "--run-service",
        "--config=C:\\hyperkube\\settings\\containerd\\config.toml",
        "--log-file=C:\\hyperkube\\logs\\containerd.log",
      ]
    `)
    expect(fileText(containerd, 'config.toml')).toMatchInlineSnapshot(`
      "version = 3
      root = "C:\\\\hyperkube\\\\state\\\\containerd\\\\root"
      state = "C:\\\\hyperkube\\\\state\\\\containerd\\\\state"

      [grpc]
        address = "\\\\\\\\.\\\\pipe\\\\containerd-containerd"

      [plugins.'io.containerd.cri.v1.images'.pinned_images]
        sandbox = "registry.k8s.io/pause:3.10.2"

      [plugins.'io.containerd.cri.v1.images'.registry]
        config_path = "C:\\\\hyperkube\\\\settings\\\\containerd\\\\certs.d"

      [plugins.'io.containerd.cri.v1.runtime'.cni]
        bin_dirs = ["C:\\\\hyperkube\\\\programs\\\\cni-plugins-1.9.1","C:\\\\opt\\\\cni\\\\bin"]
        conf_dir = "C:\\\\etc\\\\cni\\\\net.d"
      "
    `)
  })

  test('uses the proxy and supports registries with a port', () => {
    const containerd = find(
      planOf(`${mixed}  proxy: { https: 'http://proxy.example.com:3128', no: [10.0.0.0/8, .local] }
  registries:
    - host: registry.example.com:5000
      mirrors: ['https://mirror.example.com']
      username: puller
      password: { secret: puller }
`),
      'containerd',
    )
    expect(serviceOf(containerd).environment).toEqual({
      HTTPS_PROXY: 'http://proxy.example.com:3128',
      NO_PROXY:
        'localhost,127.0.0.0/8,::1,10.244.0.0/16,10.96.0.0/16,.svc,.cluster.local,192.168.1.11,cp1,192.168.1.31,nt2022,10.0.0.0/8,.local',
    })
    expect(containerd.files.map(({ path }) => path).slice(1)).toEqual([
      String.raw`C:\hyperkube\settings\containerd\certs.d\registry.example.com_5000_\hosts.toml`,
      String.raw`C:\hyperkube\settings\containerd\login-registry.example.com_5000.toml`,
    ])
    expect(fileText(containerd, 'config.toml')).toContain(
      String.raw`imports = ["C:\\hyperkube\\settings\\containerd\\login-*.toml"]`,
    )
  })
})

describe('the network of a Windows host', () => {
  const plan = planOf(mixed)

  test('is a flannel overlay with flanneld in a service wrapper', () => {
    const flanneld = find(plan, 'flanneld')
    expect(serviceOf(flanneld)).toMatchObject({ native: false, environment: { NODE_NAME: 'nt2022' } })
    expect(JSON.parse(fileText(flanneld, 'net-conf.json'))).toMatchObject({
      Network: '10.244.0.0/16',
      Backend: { Type: 'vxlan', VNI: 4096, Port: 4789 },
    })
    expect(flanneld.probes.map(({ check }) => check)).toContainEqual({
      kind: 'hns-network',
      name: 'flannel.4096',
      type: 'overlay',
    })
  })

  test('has a CNI configuration with the subnet that flannel assigned', () => {
    const [conflist] = find(plan, 'flanneld').derivedFiles
    expect(JSON.parse(filledIn(conflist?.template ?? '', subnet))).toEqual({
      cniVersion: '1.0.0',
      name: 'flannel.4096',
      plugins: [
        {
          type: 'win-overlay',
          apiVersion: 2,
          capabilities: { dns: true },
          ipam: {
            type: 'host-local',
            ranges: [[{ subnet: '10.244.3.0/24' }]],
            dataDir: String.raw`C:\hyperkube\state\addresses`,
          },
          policies: [
            {
              name: 'EndpointPolicy',
              value: { Type: 'OutBoundNAT', Settings: { Exceptions: ['10.244.0.0/16', '10.96.0.0/16'] } },
            },
            {
              name: 'EndpointPolicy',
              value: { Type: 'SDNRoute', Settings: { DestinationPrefix: '10.96.0.0/16', NeedEncap: true } },
            },
            {
              name: 'EndpointPolicy',
              value: { Type: 'ProviderAddress', Settings: { ProviderAddress: '192.168.1.31' } },
            },
          ],
        },
      ],
    })
  })

  test('gives kube-proxy its reserved source VIP', () => {
    const proxy = find(plan, 'kube-proxy')
    const [config] = proxy.derivedFiles
    expect(config?.from).toBe(String.raw`C:\hyperkube\state\kube-proxy\source-vip.env`)
    expect(parse(filledIn(config?.template ?? '', { SOURCE_VIP: '10.244.3.2' }))).toMatchObject({
      mode: 'kernelspace',
      metricsBindAddress: '127.0.0.1:10249',
      winkernel: { networkName: 'flannel.4096', sourceVip: '10.244.3.2', enableDSR: true },
    })
    expect(serviceOf(proxy)).toMatchObject({ name: 'kube-proxy', native: true })
    expect(serviceOf(proxy).arguments).toContain('--windows-service=true')
    expect(serviceOf(proxy).arguments).toContain(`--config=${config?.path}`)
    expect(proxy.needs).toContain('flanneld')
  })

  test('does not depend on the kube-proxy mode of Linux hosts', () => {
    const other = planOf(`${mixed}  components: { kubeProxy: { mode: iptables } }\n`)
    expect(find(other, 'kube-proxy')).toEqual(find(plan, 'kube-proxy'))
  })

  test('can be a plugin of the operator, without flanneld', () => {
    const own = planOf(`${mixed}  network: { plugin: none }
  components: { kubeProxy: { config: { winkernel: { networkName: Calico, sourceVip: 10.244.3.9 } } } }
`)
    expect(own.components.map(({ name }) => name)).not.toContain('flanneld')
    const proxy = find(own, 'kube-proxy')
    expect(proxy).toMatchObject({ derivedFiles: [], needs: ['apiserver-proxy'] })
    expect(parse(fileText(proxy, 'config.yaml'))).toMatchObject({
      winkernel: { networkName: 'Calico', sourceVip: '10.244.3.9', enableDSR: true },
    })
    expect(find(own, 'host').firewall.map(({ ports }) => ports)).not.toContain('4789')
  })

  test('has firewall rules for kubelet, kube-proxy, node ports and vxlan', () => {
    const rules = find(plan, 'host').firewall.map(({ protocol, ports }) => `${protocol} ${ports}`)
    expect(rules).toEqual(['tcp 10250', 'tcp 10256', 'tcp 30000-32767', 'udp 30000-32767', 'udp 4789'])
  })
})

function read(path: string, text: string): unknown {
  switch (win32.extname(path)) {
    case '.json':
    case '.conflist':
      return JSON.parse(text)
    case '.toml':
      return text
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('['))
        .map((line): unknown => JSON.parse(line.slice(line.indexOf('=') + 1)))
    case '.crt':
      return text
    default:
      return parse(text)
  }
}

/**
 * Lists files in hyperkube's directory that the settings of a component refer to, but that its plan does not
 * create.
 */
function missingFiles(component: ComponentPlan): string[] {
  const { files, certificates, derivedFiles, directories, artifacts, service } = component
  const made = new Set([
    ...[...files, ...derivedFiles, ...directories].map(({ path }) => path),
    ...derivedFiles.map(({ from }) => from),
    ...certificates.flatMap(({ certificateFile, keyFile }) => [certificateFile, keyFile]),
    ...artifacts.map(({ directory }) => directory),
  ])
  const contents = [
    ...(service === undefined ? [] : serviceOf(component).arguments),
    ...texts(component).map(([, text]) => text.replaceAll('\\\\', '\\')),
  ]
  const named = contents.flatMap((text) =>
    [...text.matchAll(/C:\\hyperkube\\settings\\[\w.@\\-]+/g)].map(([path]) => path),
  )
  return [...new Set(named)].filter((path) => !made.has(path))
}
