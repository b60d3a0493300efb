import type { MantineColorsTuple } from '@mantine/core'
import { Input, Modal, createTheme } from '@mantine/core'

const ACCENT = Array.from({ length: 10 }, () => 'var(--accent)') as unknown as MantineColorsTuple

/**
 * The library's components with our tokens. Their values are in `look.css`: the library would write them into a style
 * element, which the page's policy forbids.
 */
export const theme = createTheme({
  primaryColor: 'accent',
  colors: { accent: ACCENT },
  defaultRadius: 'sm',
  respectReducedMotion: true,
  components: {
    // Most fields are required; labels say which are not.
    InputWrapper: Input.Wrapper.extend({ defaultProps: { withAsterisk: false } }),
    // Its scroll lock writes a style element; `look.css` locks the scroll instead.
    Modal: Modal.extend({
      defaultProps: {
        lockScroll: false,
        centered: true,
        transitionProps: { duration: 100 },
        closeButtonProps: { 'aria-label': 'Close' },
      },
    }),
  },
})
