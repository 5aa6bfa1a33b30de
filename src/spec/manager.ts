import { z } from 'zod'
import { settingsOrNone } from './settings-or-none.ts'

const controller = z
  .string()
  .regex(/^(\*|-?[a-z][a-z0-9-]*)$/, 'must be *, the name of a controller, or one with - before it')

export const managerSchema = settingsOrNone(
  z
    .strictObject({
      controllers: z
        .array(controller)
        .min(1, 'needs at least one; without any controller: manager: none')
        .default(['*'])
        .meta({
          description:
            'Which are on: `*` is all that are by default, a name is on, `-name` is off. `hyperkube controller-manager list` names them.',
        }),
    })
    .meta({
      id: 'Manager',
      description: 'hyperkube’s own controllers, which look after the cluster while no operator is near.',
    }),
)
