import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileExists } from '../../src/kit/files.ts'
import { runProgram } from '../../src/kit/command.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { launchHost } from './boot.ts'
import { Machine, type MachineEndpoint, writeHostIdentity } from './machine.ts'
import { gatewayAddress } from './names.ts'
import { attachTapDevice, hardwareAddress } from './network.ts'
import { closeConnection } from './ssh.ts'

/**
 * `tcg` emulates the processor in software, about thirteen times slower. It is used where KVM does not work.
 */
export type Accelerator = 'kvm' | 'tcg'

export interface VirtualMachineOptions extends MachineEndpoint {
  readonly directory: string
  readonly keyFile: string
  /** Directory of the base (root file system) in the cache. */
  readonly base: string
}

const program = 'qemu-system-x86_64'
const bootTimeoutMs = 600_000

/**
 * A host with its own kernel. Unlike a container, it has cgroup version 2 and must load its own kernel
 * modules.
 */
export class VirtualMachine extends Machine {
  readonly accelerator: Accelerator
  readonly #options: VirtualMachineOptions

  private constructor(options: VirtualMachineOptions, accelerator: Accelerator) {
    super(options.directory, options, options.keyFile)
    this.accelerator = accelerator
    this.#options = options
  }

  /** Creates and boots a virtual machine. The caller must have removed any earlier one with the same name. */
  static async start(options: VirtualMachineOptions): Promise<VirtualMachine> {
    const machine = new VirtualMachine(options, await detectAccelerator(options.base))
    await machine.#makeDisk()
    await attachTapDevice({ network: options.network, host: options.name })
    await launchHost(machine, machine.#argv())
    await machine.connect(bootTimeoutMs)
    return machine
  }

  /** Shuts the machine down cleanly and boots it again. */
  async reboot(): Promise<void> {
    const previousBootId = await this.#bootId()
    await this.exec(['systemctl', 'reboot'], { allowFailure: true })
    await closeConnection(this.ssh.control)
    await pollUntil(
      `${this.name} to boot again`,
      async () => {
        await this.connect(bootTimeoutMs)
        const isRebooted = (await this.#bootId()) !== previousBootId
        // Logins still reach the old boot until the shutdown is complete. The next attempt then needs a new
        // connection.
        if (!isRebooted) await closeConnection(this.ssh.control)
        return isRebooted
      },
      { timeoutMs: bootTimeoutMs, intervalMs: 1000 },
    )
  }

  async #bootId(): Promise<string> {
    return (await this.exec(['cat', '/proc/sys/kernel/random/boot_id'])).stdout
  }

  async #makeDisk(): Promise<void> {
    const { base, network } = this.#options
    const root = join(this.directory, 'root')
    await mkdir(root, { recursive: true })
    await runProgram(['mkfs.ext4', '-q', '-d', base, this.#disk, '8G'])
    await runProgram(['mount', '-o', 'loop', this.#disk, root])
    try {
      await writeHostIdentity(this, root)
      await writeFile(join(root, 'etc/systemd/network/lab.network'), renderNetworkFile(this.address, network))
    } finally {
      await runProgram(['umount', root])
    }
  }

  get #disk(): string {
    return join(this.directory, 'disk.img')
  }

  #argv(): string[] {
    return [
      ...buildMachineArgs(this.accelerator, 4096),
      ...buildKernelArgs(this.#options.base, ['root=/dev/vda', 'rw', 'console=ttyS0']),
      ['-initrd', join(this.#options.base, 'initrd.img')],
      ['-serial', 'stdio'],
      // With `cache=unsafe` writes are not synced. This is safe, because the disk is deleted with the
      // machine.
      ['-drive', `file=${this.#disk},if=virtio,format=raw,discard=unmap,cache=unsafe`],
      ['-netdev', `tap,id=lab,ifname=${this.hostId},script=no,downscript=no`],
      ['-device', `virtio-net-pci,netdev=lab,mac=${hardwareAddress(this.address)}`],
    ].flat()
  }
}

function buildMachineArgs(accelerator: Accelerator, megabytes: number): string[] {
  const cpuArgs =
    accelerator === 'kvm' ? ['-accel', 'kvm', '-cpu', 'host'] : ['-accel', 'tcg,thread=multi', '-cpu', 'max']
  return [program, ...cpuArgs, '-smp', '2', '-m', String(megabytes), '-nodefaults', '-display', 'none']
}

function buildKernelArgs(base: string, parameters: readonly string[]): string[] {
  return ['-kernel', join(base, 'vmlinuz'), '-append', parameters.join(' ')]
}

/**
 * Tests whether KVM works: /dev/kvm may exist and still not work, and a virtual machine would hang. The test
 * boots a kernel without a disk, which panics and exits within seconds.
 */
async function detectAccelerator(base: string): Promise<Accelerator> {
  if (!(await fileExists('/dev/kvm'))) return 'tcg'
  const testCommand = [...buildMachineArgs('kvm', 512), ...buildKernelArgs(base, ['panic=-1']), '-no-reboot']
  const { code } = await runProgram(['timeout', '--kill-after=5', '20', ...testCommand], {
    allowFailure: true,
  })
  return code === 0 ? 'kvm' : 'tcg'
}

/**
 * Renders the network configuration of a virtual machine. It matches the hardware address, so it does not
 * apply to interfaces of pods.
 */
function renderNetworkFile(address: string, network: number): string {
  return `[Match]
MACAddress=${hardwareAddress(address)}

[Network]
Address=${address}/24
Gateway=${gatewayAddress(network)}
`
}
