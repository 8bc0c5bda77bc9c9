/* The file IMAGE in flash, aligned as the kernel needs it. */
    .section .rodata.image, "a"
    .balign 128
    .global image, image_end
image:
    .incbin IMAGE
image_end:
