import type { OpTarget } from '../../contract/op.ts'
import type { Host, LinuxHost, WindowsHost } from '../host/host.ts'
import { type AnyTarget, anyTarget, targetOf } from './target.ts'
import { artifact } from './targets/artifact.ts'
import { certificate } from './targets/certificate.ts'
import { derivedFile } from './targets/derived-file.ts'
import { directory } from './targets/directory.ts'
import { file } from './targets/file.ts'
import { firewallRule } from './targets/firewall-rule.ts'
import { image } from './targets/image.ts'
import { module } from './targets/module.ts'
import { never } from './targets/never.ts'
import { scmService } from './targets/scm-service.ts'
import { service } from './targets/service.ts'
import { sysctl } from './targets/sysctl.ts'
import { user } from './targets/user.ts'
import { windowsRule } from './targets/windows-rule.ts'

type Targets = Readonly<Record<OpTarget, AnyTarget>>

const shared = {
  directory: anyTarget(directory),
  artifact: anyTarget(artifact),
  image: anyTarget(image),
  file: anyTarget(file),
  'derived-file': anyTarget(derivedFile),
  certificate: anyTarget(certificate),
}

/** Every kind of thing that there can be on a host, by its system. */
const targets: Readonly<Record<Host['os'], Targets>> = {
  linux: {
    ...shared,
    user: targetOf(user, linux),
    module: targetOf(module, linux),
    sysctl: targetOf(sysctl, linux),
    'firewall-rule': anyTarget(firewallRule),
    service: targetOf(service, linux),
  },
  windows: {
    ...shared,
    user: never('user'),
    module: never('module'),
    sysctl: never('sysctl'),
    'firewall-rule': targetOf(windowsRule, windows),
    service: targetOf(scmService, windows),
  },
}

export function targetsFor({ os }: Pick<Host, 'os'>): Targets {
  return targets[os]
}

function linux(host: Host): LinuxHost {
  if (host.os === 'linux') return host
  throw new Error('this is no Linux host')
}

function windows(host: Host): WindowsHost {
  if (host.os === 'windows') return host
  throw new Error('this is no Windows host')
}
