#!/usr/bin/env python3
"""Records heights at posts with rasterio 1.4, places on planes with pyproj 3.7, and pixels with Pillow.

    heights.py DATA    writes heights.csv, places.csv and pictures.csv beside this file
"""
import glob, os, random, sys, tempfile, zipfile

import numpy as np
import pyproj
import rasterio

D=sys.argv[1]+'/'
random.seed(52)
rows=[]
def sample(name, path, extra=None):
    with rasterio.open(path) as d:
        a=d.read(1).astype(float); nd=d.nodata; T=d.transform
        if nd is not None:
            ndv = np.nan if np.isnan(nd) else (float(np.float32(nd)) if d.dtypes[0]=='float32' else nd)
            a[a==ndv]=np.nan
        crs=d.crs.to_epsg() if d.crs else None
        if d.gcps[0] and d.gcps[1]:
            # affine through the corners, as pixels of corners
            T=rasterio.transform.from_gcps(d.gcps[0]); crs=d.gcps[1].to_epsg()
        h,w=a.shape
        n=0; tries=0
        ok=[]
        while n<12 and tries<20000:
            tries+=1
            r=random.randrange(1,max(2,h-1)); c=random.randrange(1,max(2,w-1))
            if h<=3 or w<=3: r=random.randrange(h); c=random.randrange(w)
            blk=a[max(0,r-1):r+2,max(0,c-1):c+2]
            if h>3 and np.isnan(blk).any(): continue
            if np.isnan(a[r,c]): continue
            x,y=T*(c+0.5,r+0.5)
            ok.append((name,crs or 0,repr(float(x)),repr(float(y)),repr(float(a[r,c])))); n+=1
        rows.extend(ok)
for f in sorted(glob.glob(D+'dem/*')):
    b=os.path.basename(f)
    if b.endswith('.zip'):
        z=zipfile.ZipFile(f); z.extractall(tempfile.gettempdir()+''); sample(b,tempfile.gettempdir()+'/N48W125.hgt'); continue
    sample(b,f)
with open(os.path.join(os.path.dirname(__file__),'heights.csv'),'w') as o:
    o.write('file,epsg,x,y,height\n')
    for r in rows: o.write(','.join(map(str,r))+'\n')
# places
out=[]
for code in [32601,32632,32660,32701,32755,25832,25838,26910,23030,31467,31468,31256,27700,2193,28355,7855,2046,5514,3067,2154,26717]:
    crs=pyproj.CRS.from_epsg(code)
    op=crs.coordinate_operation.method_name
    if 'Transverse Mercator' not in op: print('skip',code,op); continue
    if 'South' in op: print('skip', code, op); continue
    g=crs.geodetic_crs
    tr=pyproj.Transformer.from_crs(g,crs,always_xy=True)
    u=crs.area_of_use
    for k in range(6):
        lon=random.uniform(u.west,u.east); lat=random.uniform(max(u.south,-80),min(u.north,83))
        x,y=tr.transform(lon,lat)
        out.append((code,repr(lon),repr(lat),repr(x),repr(y)))
# transverse Mercator about a place
with open(os.path.join(os.path.dirname(__file__),'places.csv'),'w') as o:
    o.write('epsg,lon,lat,x,y\n')
    for r in out: o.write(','.join(map(str,r))+'\n')

# pixels of height maps: grey steps, of colours luma
from PIL import Image
lines = ['file,column,row,step']
for path in sorted(glob.glob(D + 'heightmap/*')):
    if path.endswith('.sdf'):
        continue
    name = os.path.basename(path)
    image = Image.open(path)
    grey = image.mode in ('I;16', 'I', 'L')
    if not grey:
        image = image.convert('RGB')
    for _ in range(8):
        c, r = random.randrange(image.width), random.randrange(image.height)
        v = image.getpixel((c, r))
        if not grey:
            v = (299 * v[0] + 587 * v[1] + 114 * v[2]) / 1000
        elif name == 'pngsuite_basn0g04.png':
            v //= 17  # four bits, which Pillow spreads to eight
        lines.append(f'{name},{c},{r},{v}')
open(os.path.join(os.path.dirname(__file__), 'pictures.csv'), 'w').write('\n'.join(lines) + '\n')
