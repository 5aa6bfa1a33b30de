import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from '../../src/kit/command.ts'
import { exists } from '../../src/kit/files.ts'
import { until } from '../../src/kit/poll-until.ts'
import { launch } from './boot.ts'
import { Machine, type MachinePlace, personalize } from './machine.ts'
import { gatewayAddress } from './names.ts'
import { hardwareAddress, plugInVirtual } from './network.ts'
import { closeConnection } from './ssh.ts'

/** With a processor that has no such thing, instructions are translated one by one: some thirteen times slower. */
export type Accelerator = 'kvm' | 'tcg'

export interface VirtualMachineOptions extends MachinePlace {
  readonly directory: string
  readonly keyFile: string
  /** The base's directory in the cache. */
  readonly base: string
}

const program = 'qemu-system-x86_64'
const bootTime = 600_000

/** A machine with a kernel of its own: cgroup version 2, and modules that somebody must load. */
export class VirtualMachine extends Machine {
  readonly accelerator: Accelerator
  readonly #options: VirtualMachineOptions

  private constructor(options: VirtualMachineOptions, accelerator: Accelerator) {
    super(options.directory, options, options.keyFile)
    this.accelerator = accelerator
    this.#options = options
  }

  /** Makes one and boots it, where nothing of another one is left. */
  static async start(options: VirtualMachineOptions): Promise<VirtualMachine> {
    const machine = new VirtualMachine(options, await bestAccelerator(options.base))
    await machine.#makeDisk()
    await plugInVirtual({ network: options.network, host: options.name })
    await launch(machine, machine.#argv())
    await machine.connect(bootTime)
    return machine
  }

  /** Shuts down in good order, and boots again. */
  async reboot(): Promise<void> {
    const before = await this.#bootId()
    await this.exec(['systemctl', 'reboot'], { allowFailure: true })
    await closeConnection(this.ssh.control)
    await until(
      `${this.name} to boot again`,
      async () => {
        await this.connect(bootTime)
        const again = (await this.#bootId()) !== before
        // Until it is down, logins are for the boot that ends.
        if (!again) await closeConnection(this.ssh.control)
        return again
      },
      { within: bootTime, every: 1000 },
    )
  }

  async #bootId(): Promise<string> {
    return (await this.exec(['cat', '/proc/sys/kernel/random/boot_id'])).stdout
  }

  async #makeDisk(): Promise<void> {
    const { base, network } = this.#options
    const root = join(this.directory, 'root')
    await mkdir(root, { recursive: true })
    await run(['mkfs.ext4', '-q', '-d', base, this.#disk, '8G'])
    await run(['mount', '-o', 'loop', this.#disk, root])
    try {
      await personalize(this, root)
      await writeFile(join(root, 'etc/systemd/network/lab.network'), networkFile(this.address, network))
    } finally {
      await run(['umount', root])
    }
  }

  get #disk(): string {
    return join(this.directory, 'disk.img')
  }

  #argv(): string[] {
    return [
      ...machineArgv(this.accelerator, 4096),
      ...kernelArgv(this.#options.base, ['root=/dev/vda', 'rw', 'console=ttyS0']),
      ['-initrd', join(this.#options.base, 'initrd.img')],
      ['-serial', 'stdio'],
      // It is never taken down but to be thrown away.
      ['-drive', `file=${this.#disk},if=virtio,format=raw,discard=unmap,cache=unsafe`],
      ['-netdev', `tap,id=lab,ifname=${this.mark},script=no,downscript=no`],
      ['-device', `virtio-net-pci,netdev=lab,mac=${hardwareAddress(this.address)}`],
    ].flat()
  }
}

function machineArgv(accelerator: Accelerator, megabytes: number): string[] {
  const how =
    accelerator === 'kvm' ? ['-accel', 'kvm', '-cpu', 'host'] : ['-accel', 'tcg,thread=multi', '-cpu', 'max']
  return [program, ...how, '-smp', '2', '-m', String(megabytes), '-nodefaults', '-display', 'none']
}

function kernelArgv(base: string, parameters: readonly string[]): string[] {
  return ['-kernel', join(base, 'vmlinuz'), '-append', parameters.join(' ')]
}

/**
 * A device that is there may still not work, and a machine that hangs tells nobody. A kernel without a disk has nothing
 * to do but to give up: where the accelerator works, that takes it a second or two.
 */
async function bestAccelerator(base: string): Promise<Accelerator> {
  if (!(await exists('/dev/kvm'))) return 'tcg'
  const trial = [...machineArgv('kvm', 512), ...kernelArgv(base, ['panic=-1']), '-no-reboot']
  const { code } = await run(['timeout', '--kill-after=5', '20', ...trial], { allowFailure: true })
  return code === 0 ? 'kvm' : 'tcg'
}

/** By its hardware address: those of pods come and go beside it. */
function networkFile(address: string, network: number): string {
  return `[Match]
MACAddress=${hardwareAddress(address)}

[Network]
Address=${address}/24
Gateway=${gatewayAddress(network)}
`
}
